// A skill that was loaded: its name and what its sections are.

import type { View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"
import { headingsIn } from "../read/markdown.ts"

export function digestSkill(view: View): Draft {
  const name = /<skill_content name="([^"]+)">/.exec(view.lines[0]?.text ?? "")?.[1]
  const headings = headingsIn(view.lines)
  const base = view.lines.find(({ text }) => text.startsWith("Base directory for this skill: "))
  const title = name ?? headings[0]?.title ?? view.lines[0]?.text ?? "empty"
  const rest = headings.map((heading) => heading.title).filter((heading) => !heading.endsWith(title))
  return {
    kind: "skill",
    gist: `skill ${title}${rest.length > 0 ? `: ${listed(rest, 120, "; ")}` : ""}`,
    facts: [
      ...headings.map(({ line }) => cite("symbol", line)),
      base && cite("path", base, base.text.replace(/^.*: (?:file:\/\/)?/, "")),
    ],
  }
}
