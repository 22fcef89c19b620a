// The digest writer that needs no model: decides what sort of output it has before it, lets that sort's file draft the
// digest, and holds the draft to what the type promises.

import type { Digest, DigestSource } from "../../output/digest.ts"
import { clip, look, type View } from "../../output/lines.ts"
import { tellingLine } from "../../output/telling.ts"
import { digestQuestion } from "./agent/question.ts"
import { digestSkill } from "./agent/skill.ts"
import { digestTask } from "./agent/task.ts"
import { digestTodo } from "./agent/todo.ts"
import { digestEdit } from "./change/edit.ts"
import { digestPatch } from "./change/patch.ts"
import { digestCommand } from "./command/command.ts"
import { digestLog } from "./command/log.ts"
import { cite, type Draft, settle } from "./draft.ts"
import { digestOther } from "./other/other.ts"
import { digestRead } from "./read/read.ts"
import { digestMatches } from "./search/matches.ts"
import { digestPaths } from "./search/paths.ts"
import { withoutNote } from "./truncation.ts"
import { digestPage } from "./web/page.ts"
import { digestResults } from "./web/results.ts"

/**
 * A digest of any tool output. Never throws, whatever it is given; the same source gives the same digest; looks at no
 * more than the first and the last 64 kB. Every fact's text stands in `source.output` as it is.
 */
export function extract(source: DigestSource): Digest {
  const output = typeof source.output === "string" ? source.output : ""
  const input = typeof source.input === "object" && source.input !== null ? source.input : {}
  const whole = { ...source, input, output }
  const { view, saved } = withoutNote(look(output))
  const draft = draftOf(whole, view)
  const facts = settle(draft.facts, saved)
  const digest: Digest = { kind: draft.kind, gist: clip(draft.gist) || "no output", facts }
  if (draft.verdict) digest.verdict = draft.verdict
  return digest
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
      return digestTodo(view, source.output) ?? digestLog(view)
    case "skill":
      return digestSkill(view)
    case "question":
      return digestQuestion(view)
    case "other":
      return digestOther(source, view)
    default:
      // a kind of a later version, or of none: the type is only a promise here
      source.kind satisfies never
      return digestOther(source, view)
  }
}

/** A tool that ended in an error: the error. */
function digestFailure(view: View): Draft {
  const lines = view.lines.filter(({ text }) => text.trim() !== "")
  const telling = lines.length > 3 ? (tellingLine(lines) ?? lines[0]) : lines[0]
  const gist = telling?.text.replace(/^<\w+>|<\/\w+>$/g, "") ?? "failed without a word"
  return { kind: "failure", gist, facts: [telling, ...lines.slice(0, 4)].map((line) => line && cite("error", line)) }
}
