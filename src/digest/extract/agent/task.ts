// What a subagent reported: its first sentence and the points it made.

import type { View } from "../../../output/lines.ts"
import { cite, type Draft } from "../draft.ts"

const WRAPPING = /^<\/?task(?:_result|_metadata)?\b[^>]*>|^task_id: |^session_id: |^<\/?\w+>$/

export function digestTask(view: View): Draft {
  const state = /<task id=\S+ state="(\w+)"/.exec(view.lines[0]?.text ?? "")?.[1]
  const lines = view.lines
    .map(({ text, raw }) => ({ text: text.replace(/^<task_result>/, ""), raw }))
    .filter(({ text }) => text.trim() !== "" && !WRAPPING.test(text))
  const first = lines.find(({ text }) => /[\p{L}\p{N}]/u.test(text) && !/^#+ \S+$/.test(text))
  if (!first) return { kind: "task", gist: state ? `${state}, no result` : "no result", facts: [] }
  const sentence = /^.{20,}?[.!?](?=\s|$)/.exec(first.text)?.[0] ?? first.text
  const points = lines.filter(({ text }) => /^\s*(?:[-*•]|\d+[.)]|#+)\s/.test(text))
  const gist = sentence.replace(/^[#>*\-\s]+/, "").replace(/[*`]{1,2}/g, "")
  return {
    kind: "task",
    gist: state && state !== "completed" ? `${state}: ${gist}` : gist,
    facts: [
      cite("verdict", first, sentence),
      ...points.slice(0, 9).map((line) => cite("symbol", line)),
      ...lines.slice(-2).map((line) => cite("verdict", line)),
    ],
  }
}
