// What a tool's output shows, finer than its kind: a `cat` shows a file as a read does, a `grep` matches as a search
// does. How long an output is of use follows from it (fold/need.ts).

import { type Program, programsOf } from "./shell.ts"
import type { FileUse, ToolKind } from "./tools.ts"

export type Shows =
  | "file"
  | "excerpt"
  | "document"
  | "matches"
  | "listing"
  | "run"
  | "page"
  | "recalled"
  | "answer"
  | "change"
  | "other"

const DOCUMENT = /\.(?:md|mdx|markdown|rst|txt|adoc)$/i
const SHOW = /^(?:cat|bat|head|tail|sed|nl|less|more|awk)$/
const SEARCH = /^(?:e?grep|fgrep|rg|ag|ack)$/
const LIST = /^(?:ls|find|fd|tree|eza)$/
const ASIDE = /^(?:cd|pushd|export|set|source|\.|echo|printf|true|wc|sort|uniq)$/

/** The tool by which a folded output comes back. */
export const RECALL_TOOL = "hud_recall"

/** `command` is the whole command of a call that ran one. */
export function showsOf(tool: string, kind: ToolKind, files: readonly FileUse[], command: string): Shows {
  if (tool === RECALL_TOOL) return "recalled"
  switch (kind) {
    case "read": {
      const [file] = files
      if (file && DOCUMENT.test(file.path)) return "document"
      return file?.range ? "excerpt" : file ? "file" : "listing"
    }
    case "search":
      return "matches"
    case "list":
      return "listing"
    case "web":
      return "page"
    case "command":
      return shownBy(command)
    case "edit":
    case "write":
    case "patch":
      return "change"
    case "task":
    case "todo":
    case "skill":
    case "question":
      return "answer"
    case "other":
      return "other"
  }
}

/** By the first program that says something; a pipe's end only shapes what its beginning says. */
function shownBy(command: string): Shows {
  const programs = programsOf(command)
  const main = mainOf(programs)
  if (!main) return "run"
  if (SHOW.test(main.name)) {
    if (main.args.some((word) => DOCUMENT.test(word))) return "document"
    return main.name === "cat" && !main.piped ? "file" : "excerpt"
  }
  if (SEARCH.test(main.name) || (main.name === "git" && main.args[0] === "grep"))
    return main.args.some((word) => /^-(?:[ABC]\d*|-(?:context|after-context|before-context))/.test(word))
      ? "excerpt"
      : "matches"
  return LIST.test(main.name) ? "listing" : "run"
}

/** The files a command shows the text of, as it names them; of a `cd` before it the folder is put in front. */
export function filesShown(command: string): string[] {
  const programs = programsOf(command)
  const main = mainOf(programs)
  if (!main || !(SHOW.test(main.name) || SEARCH.test(main.name))) return []
  const folder = programs.find(({ name }) => name === "cd")?.args[0]
  const named = main.args.filter((word) => !word.startsWith("-"))
  // what a search looks for may look like a file
  return named
    .slice(SEARCH.test(main.name) ? 1 : 0)
    .filter((word) => /^[\w@~./-]*[\w)\]]\.\w{1,8}$/.test(word))
    .map((word) => (folder === undefined || /^[/~]/.test(word) ? word : `${folder}/${word}`))
}

function mainOf(programs: readonly Program[]): Program | undefined {
  return programs.find(({ name }, i) => !ASIDE.test(name) && !programs[i - 1]?.piped)
}
