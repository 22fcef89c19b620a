// What the user answered.

import { clip, type View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"

export function digestQuestion(view: View): Draft {
  const text = view.lines
    .map((line) => line.text)
    .join(" ")
    .slice(0, 8000)
  const answers = [...text.matchAll(/"([^"]*)"="([^"]*)"/g)].map((found) => ({
    asked: found[1] ?? "",
    answer: found[2] ?? "",
  }))
  const facts = answers.flatMap(({ asked, answer }) =>
    [answer, asked].map((wanted, at) => {
      const line = view.lines.find(({ raw }) => raw.includes(wanted.slice(0, 200)))
      return line && wanted !== "" ? cite(at === 0 ? "verdict" : "symbol", line, wanted) : undefined
    }),
  )
  const first = view.lines.find((line) => line.text.trim() !== "")
  if (answers.length === 0)
    return { kind: "answer", gist: first?.text ?? "no answer", facts: [first && cite("verdict", first)] }
  const words = answers.map(({ asked, answer }) => `"${clip(answer, 70)}" to ${clip(asked, 70)}`)
  return { kind: "answer", gist: `answered ${listed(words, 140, "; ")}`, facts }
}
