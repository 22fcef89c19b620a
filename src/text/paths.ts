// File paths as tools and patches spell them, brought to one spelling, so that a file is one file. Text only: nothing
// here asks the disk.

/** Slashes forward, `.` and `..` resolved, no trailing slash. Windows drive letters are kept, upper-cased. */
export function normalizePath(path: string): string {
  const slashed = path.replaceAll("\\", "/").replace(/^([a-z]):/, (_, drive: string) => `${drive.toUpperCase()}:`)
  const rooted = slashed.startsWith("/")
  const out: string[] = []
  for (const name of slashed.split("/")) {
    if (name === "" || name === ".") continue
    if (name === ".." && out.length && out.at(-1) !== "..") out.pop()
    else if (name !== ".." || !rooted) out.push(name)
  }
  return (rooted ? "/" : "") + out.join("/")
}

/** The path relative to `root` when it lies in it, else normalised as it is. A relative path is taken to be in it. */
export function relativeTo(root: string | undefined, path: string): string {
  const whole = normalizePath(path)
  if (!root || root === "/") return whole
  const base = normalizePath(root)
  if (whole === base) return "."
  return whole.startsWith(`${base}/`) ? whole.slice(base.length + 1) : whole
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}

export function dirname(path: string): string {
  const at = path.lastIndexOf("/")
  return at < 0 ? "" : path.slice(0, at)
}
