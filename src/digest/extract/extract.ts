// The digest writer that needs no model. It picks the writer for the kind of output and bounds its draft.

import type { Digest, DigestSource } from "../../output/digest.ts"
import { clip, type View, viewOf } from "../../output/lines.ts"
import { failureLine } from "../../output/verdict.ts"
import { digestQuestion, digestSkill, digestTask, digestTodo } from "./agent.ts"
import { digestEdit, digestPatch } from "./change.ts"
import { digestCommand, digestOther } from "./command.ts"
import { type Draft, withoutTruncationNote } from "./draft.ts"
import { digestLog } from "./log.ts"
import { digestRead } from "./read.ts"
import { digestMatches, digestPaths } from "./search.ts"
import { digestPage, digestResults } from "./web.ts"

/** A digest of any tool output. Deterministic; never throws; reads at most the first and the last 64 kB. */
export function extract(source: DigestSource): Digest {
  const output = typeof source.output === "string" ? source.output : ""
  const input = typeof source.input === "object" && source.input !== null ? source.input : {}
  const draft = draftOf({ ...source, input, output }, withoutTruncationNote(viewOf(output)))
  return { ...draft, gist: clip(draft.gist) || "no output" }
}

function draftOf(source: DigestSource, view: View): Draft {
  if (source.failed && source.kind !== "command") return digestFailure(view)
  switch (source.kind) {
    case "read":
      return digestRead(view, source.input)
    case "edit":
      return digestEdit(view, source.input, "edited")
    case "write":
      return digestEdit(view, source.input, "wrote")
    case "patch":
      return digestPatch(view)
    case "command":
      return digestCommand(source, view)
    case "search":
      return digestMatches(view)
    case "list":
      return digestPaths(view)
    case "web":
      return digestResults(view, /search/i.test(String(source.tool))) ?? digestPage(view, source.output)
    case "task":
      return digestTask(view)
    case "todo":
      return digestTodo(source.output) ?? digestLog(view)
    case "skill":
      return digestSkill(view)
    case "question":
      return digestQuestion(view)
    case "other":
      return digestOther(source, view)
    default:
      // the type does not hold at run time: the kind may be one of a later version, or missing
      source.kind satisfies never
      return digestOther(source, view)
  }
}

function digestFailure(view: View): Draft {
  const lines = view.lines.filter((text) => text.trim() !== "")
  const reason = lines.length > 3 ? (failureLine(lines) ?? lines[0]) : lines[0]
  const gist = reason?.replace(/^<\w+>|<\/\w+>$/g, "") ?? "failed without a word"
  return { kind: "failure", gist }
}
