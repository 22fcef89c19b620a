// Finding an executable on PATH, for what starts processes: the sidecar, and the CLI that runs itself on Bun.

import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

/** An executable on PATH. Relative entries are passed over: they mean whatever folder one happens to stand in. */
export function findCommand(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder))
  // npm puts a .cmd there on Windows, which cannot be started without a shell; the binary lies below it.
  const files =
    process.platform === "win32"
      ? [`${name}.exe`, join("node_modules", name === "opencode" ? "opencode-ai" : name, "bin", `${name}.exe`)]
      : [name]
  return folders.flatMap((folder) => files.map((file) => join(folder, file))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
