// A small disk that can fill up or be made read-only: a tmpfs, which needs Linux and root.

import { execFileSync } from "node:child_process"

/** Whether this process may; tried in a place of its own that goes with the try. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Mounted at a folder that is there, until disposed. `readOnly` is refused while a file is open for writing. */
export function mountSmall(folder: string, megabytes: number): { readOnly(): void; [Symbol.dispose](): void } {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "none", folder])
  return {
    readOnly: () => void execFileSync("mount", ["-o", "remount,ro", folder], { stdio: "ignore" }),
    [Symbol.dispose]: () => void execFileSync("umount", ["-l", folder]),
  }
}
