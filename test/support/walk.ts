// All files and folders below a folder, with their modes.

import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"

export type Found = { path: string; kind: "folder" | "file" | "other"; mode: number }

/** By path relative to the folder, the folder itself as ".". */
export function walk(folder: string, at = "."): Found[] {
  const stats = lstatSync(join(folder, at))
  const kind = stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "other"
  const own: Found = { path: at, kind, mode: stats.mode & 0o7777 }
  if (kind !== "folder") return [own]
  return [own, ...readdirSync(join(folder, at)).flatMap((name) => walk(folder, join(at, name)))]
}

export const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8)
