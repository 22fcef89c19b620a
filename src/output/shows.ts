// What a tool's output shows, in more detail than the tool's kind: `cat` shows a file as a read does, `grep` shows matches
// as a search does. Edits and recalls stay longer than the rest before they are folded.

import { hasTrait } from "./programs.ts"
import { programsOf } from "./shell.ts"
import type { FileUse, ToolKind } from "./tools.ts"

export type Shows = "file" | "matches" | "listing" | "run" | "page" | "other" | "recalled" | "answer" | "change"

/** The tool that returns a folded output. */
export const RECALL_TOOL = "hud_recall"

const SHOWN_BY_KIND: Readonly<Record<Exclude<ToolKind, "read" | "command">, Shows>> = {
  ...({ search: "matches", list: "listing", web: "page", other: "other" } as const),
  ...({ edit: "change", write: "change", patch: "change" } as const),
  ...({ task: "answer", todo: "answer", skill: "answer", question: "answer" } as const),
}

/** `command` is the command line of a shell call, else "". */
export function showsOf(tool: string, kind: ToolKind, files: readonly FileUse[], command: string): Shows {
  if (tool === RECALL_TOOL) return "recalled"
  if (kind === "command") return contentOfCommand(command)
  if (kind !== "read") return SHOWN_BY_KIND[kind]
  return files.length > 0 ? "file" : "listing"
}

/** Decided by the first program with output of its own: those behind a pipe only shape it. */
function contentOfCommand(command: string): Shows {
  const programs = programsOf(command)
  const main = programs.find((program, at) => !hasTrait(program, "setup", "shape") && programs[at - 1]?.next !== "|")
  if (!main) return "run"
  if (hasTrait(main, "file")) return "file"
  if (hasTrait(main, "search")) return "matches"
  return hasTrait(main, "list") ? "listing" : "run"
}
