// The one error family of setup. The message is for people, one line: what failed, what was expected and found, and what
// to do.

/**
 * - `UNSUPPORTED`: there is no prebuilt engine for this machine
 * - `NO_INSTALLER`: nothing here can install npm packages
 * - `INSTALL_FAILED`: the installer ended with an error
 * - `OFFLINE`: a server could not be reached
 * - `DISK_FULL`: not enough room, or none left
 * - `CHECKSUM`: what came is not what was asked for
 * - `BAD_REFERENCE`: what was written names no model
 * - `NOT_FOUND`: the hub does not have it
 * - `GATED`: the hub wants to know who asks
 * - `HUB_FAILED`: the hub answered with something else that is no file
 * - `NOT_A_MODEL`: a file that is no GGUF
 * - `TRIAL_FAILED`: what was installed does not run
 * - `UNWRITABLE`: the data folder is not ours to write to
 * - `IN_USE`: a file or folder could not be replaced
 */
export type SetupErrorCode =
  | "UNSUPPORTED"
  | "NO_INSTALLER"
  | "INSTALL_FAILED"
  | "OFFLINE"
  | "DISK_FULL"
  | "CHECKSUM"
  | "BAD_REFERENCE"
  | "NOT_FOUND"
  | "GATED"
  | "HUB_FAILED"
  | "NOT_A_MODEL"
  | "TRIAL_FAILED"
  | "UNWRITABLE"
  | "IN_USE"

export class SetupError extends Error {
  override readonly name = "SetupError"
  constructor(
    readonly code: SetupErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** In a word or a few: the code of a system error, else the message. */
export function reasonOf(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error))
}

/** The code of a system error or of its cause, as `ENOSPC`; fetch wraps the one that matters. */
export function systemCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (typeof code === "string") return code
  }
  return undefined
}
