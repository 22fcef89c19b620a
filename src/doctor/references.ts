// What a config takes from elsewhere: OpenCode puts `{env:NAME}` and `{file:path}` in place before it reads the JSON.

import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { Environment } from "../system/data-folder.ts"

const FILE = /\{file:([^}]+)\}/g

/** `missing` is the reference to a file that cannot be read, with which OpenCode does not take the config. */
export async function withReferences(
  text: string,
  { env, home, folder }: { env: Environment; home: string; folder: string },
): Promise<{ text: string } | { missing: string }> {
  // as it stands, unquoted; a name that is not set is nothing
  const filled = text.replace(/\{env:([^}]+)\}/g, (_, name: string) => env[name] ?? "")
  const files = new Map<string, string>()
  for (const { 0: reference, 1: name = "", index } of filled.matchAll(FILE)) {
    if (isComment(filled, index)) continue
    const path = name.startsWith("~/") ? join(home, name.slice(2)) : resolve(folder, name)
    try {
      const content = (await readFile(path, "utf8")).trim()
      // inside the quotes that stand around the reference
      files.set(reference, JSON.stringify(content).slice(1, -1))
    } catch {
      return { missing: reference }
    }
  }
  return {
    text: filled.replace(FILE, (reference, _, at: number) =>
      isComment(filled, at) ? reference : (files.get(reference) ?? reference),
    ),
  }
}

function isComment(text: string, at: number): boolean {
  return text
    .slice(text.lastIndexOf("\n", at) + 1, at)
    .trimStart()
    .startsWith("//")
}
