// One spelling for the file paths of tools and patches, so that a file is recognised as the same. Works on the text alone,
// without looking at the disk.

import { normalize } from "node:path/posix"

export { basename } from "node:path/posix"

/** Forward slashes, `.` and `..` resolved, no trailing slash, Windows drive letters in upper case. */
export function normalizePath(path: string): string {
  const slashed = path.replaceAll("\\", "/").replace(/^([a-z]):/, (_, drive: string) => `${drive.toUpperCase()}:`)
  const whole = normalize(slashed).replace(/(?<=.)\/$/s, "")
  return whole === "." ? "" : whole
}

/** The path relative to `root` if it is inside, else only normalised. Windows ignores case. Relative paths count as inside. */
export function relativeTo(root: string | undefined, path: string): string {
  const whole = normalizePath(path)
  if (!root || root === "/") return whole
  const base = normalizePath(root)
  const start = whole.slice(0, base.length)
  const isWithin = start === base || (/^[A-Z]:/.test(base) && start.toLowerCase() === base.toLowerCase())
  if (!isWithin) return whole
  if (whole.length === base.length) return "."
  return whole[base.length] === "/" ? whole.slice(base.length + 1) : whole
}

/** The normalised path, in full if it is relative and the folder it is relative to is known. */
export function pathFrom(folder: string | undefined, path: string): string {
  const whole = normalizePath(path)
  return !folder || isAbsolute(whole) ? whole : normalizePath(`${folder}/${whole}`)
}

/** Of a normalised path. */
export function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Z]:\/)/.test(path)
}
