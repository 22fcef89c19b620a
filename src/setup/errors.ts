// The errors of setup. The message is one line for the user: what failed, what was expected and found, and what to do.

import { CodedError, errorMessage } from "../system/values.ts"

type SetupErrorCode =
  | "UNSUPPORTED" // there is no prebuilt engine for this machine
  | "NO_INSTALLER" // no program here can install npm packages
  | "INSTALL_FAILED" // the installer failed
  | "OFFLINE" // a server could not be reached
  | "DISK_FULL" // not enough disk space
  | "CHECKSUM" // a download is not the expected file
  | "BAD_REFERENCE" // not a valid name, URI or path of a model
  | "NOT_FOUND" // the hub does not have it
  | "GATED" // the hub requires authentication or an accepted licence
  | "HUB_FAILED" // any other unexpected answer of the hub
  | "NOT_A_MODEL" // the file is not GGUF
  | "TRIAL_FAILED" // the installation does not run
  | "UNWRITABLE" // the data folder is not writable
  | "IN_USE" // a file or folder could not be replaced

export class SetupError extends CodedError<SetupErrorCode> {
  override readonly name = "SetupError"
}

/** The code of a system error, otherwise the message. */
export function shortReason(error: unknown): string {
  return systemCode(error) ?? errorMessage(error)
}

/** The code of a system error or of its cause, such as `ENOSPC`; fetch wraps the relevant error. */
export function systemCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (typeof code === "string") return code
  }
  return undefined
}
