// Outputs about the agent's own work: a subagent's report, the user's answers, the todo list, a loaded skill.

import { clip, type View } from "../../output/lines.ts"
import { asRecord, parseJson } from "../../system/values.ts"
import { headingsIn } from "./data.ts"
import { type Draft, listed, tally } from "./draft.ts"

const TASK_WRAPPING = /^<\/?task(?:_result|_metadata)?\b[^>]*>|^task_id: |^session_id: |^<\/?\w+>$/

/** A subagent's report: its first sentence. */
export function digestTask(view: View): Draft {
  const state = /<task id=\S+ state="(\w+)"/.exec(view.lines[0] ?? "")?.[1]
  const lines = view.lines
    .map((text) => text.replace(/^<task_result>/, ""))
    .filter((text) => text.trim() !== "" && !TASK_WRAPPING.test(text))
  const first = lines.find((text) => /[\p{L}\p{N}]/u.test(text) && !/^#+ \S+$/.test(text))
  if (!first) return { kind: "task", gist: state ? `${state}, no result` : "no result" }
  const sentence = /^.{20,}?[.!?](?=\s|$)/.exec(first)?.[0] ?? first
  const gist = sentence.replace(/^[#>*\-\s]+/, "").replace(/[*`]{1,2}/g, "")
  return { kind: "task", gist: state && state !== "completed" ? `${state}: ${gist}` : gist }
}

/** The user's answers to the agent's questions. */
export function digestQuestion(view: View): Draft {
  const text = view.lines.join(" ").slice(0, 8000)
  const answers = [...text.matchAll(/"([^"]*)"="([^"]*)"/g)]
  if (answers.length === 0)
    return { kind: "answer", gist: view.lines.find((line) => line.trim() !== "") ?? "no answer" }
  const words = answers.map(([, asked = "", answer = ""]) => `"${clip(answer, 70)}" to ${clip(asked, 70)}`)
  return { kind: "answer", gist: `answered ${listed(words, 140, "; ")}` }
}

/** The todo list: its progress and the current item. Undefined when the output is no todo list. */
export function digestTodo(output: string): Draft | undefined {
  const todos = todosIn(output.slice(0, 64 * 1024))
  if (todos.length === 0) return undefined
  const done = todos.filter(({ status }) => status === "completed").length
  const now = todos.find(({ status }) => status === "in_progress")
  const next = todos.find(({ status }) => status === "pending")
  const others = tally(
    todos.filter(({ status }) => !/^(?:completed|pending|in_progress)$/.test(status)).map(({ status }) => status),
  )
  const words = [`${done} of ${todos.length} done`, ...others.map(([status, count]) => `${count} ${status}`)]
  if (now) words.push(`now: ${clip(now.content, 110)}`)
  else if (next) words.push(`next: ${clip(next.content, 110)}`)
  return { kind: "todo", gist: words.join(", ") }
}

function todosIn(output: string): { content: string; status: string }[] {
  const start = output.indexOf("[")
  const end = output.lastIndexOf("]")
  const value = start < 0 ? undefined : parseJson(output.slice(start, end + 1))
  return (Array.isArray(value) ? value : []).flatMap((item) => {
    const { content, status } = asRecord(item) ?? {}
    return typeof content === "string" && typeof status === "string" ? [{ content, status }] : []
  })
}

/** A loaded skill: its name and its sections. */
export function digestSkill(view: View): Draft {
  const name = /<skill_content name="([^"]+)">/.exec(view.lines[0] ?? "")?.[1]
  const headings = headingsIn(view.lines).map((heading) => heading.title)
  const title = name ?? headings[0] ?? view.lines[0] ?? "empty"
  const rest = headings.filter((heading) => !heading.endsWith(title))
  return { kind: "skill", gist: `skill ${title}${rest.length > 0 ? `: ${listed(rest, 120, "; ")}` : ""}` }
}
