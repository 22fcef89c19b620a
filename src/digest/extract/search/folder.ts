// The folder that many paths have in common, so that it need be said once.

/** With its slash; "" when the paths share none worth naming. */
export function commonFolder(paths: readonly string[]): string {
  let base = parent(paths[0] ?? "")
  for (const path of paths) {
    while (base !== "" && !path.startsWith(base)) base = parent(base)
    if (base === "") return ""
  }
  return base === "./" || base === "/" ? "" : base
}

function parent(path: string): string {
  return path.length < 2 ? "" : path.slice(0, path.lastIndexOf("/", path.length - 2) + 1)
}
