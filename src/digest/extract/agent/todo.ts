// The todo list: how far it is and what is under way.

import { clip, type View } from "../../../output/lines.ts"
import { cite, type Draft, tally } from "../draft.ts"

type Todo = { content: string; status: string }

/** Undefined when the output is no todo list. */
export function digestTodo(view: View, output: string): Draft | undefined {
  const todos = parse(output.slice(0, 64 * 1024))
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
  const open = todos.filter(({ status }) => status !== "completed" && status !== "cancelled")
  const facts = [...new Set([now, ...open])].map((todo) => {
    const line = todo && view.lines.find(({ raw }) => raw.includes(todo.content))
    return line && cite("symbol", line, todo.content)
  })
  return { kind: "todo", gist: words.join(", "), facts }
}

function parse(output: string): Todo[] {
  const start = output.indexOf("[")
  const end = output.lastIndexOf("]")
  if (start < 0 || end < start) return []
  try {
    const value: unknown = JSON.parse(output.slice(start, end + 1))
    return Array.isArray(value) ? value.flatMap(toTodo) : []
  } catch {
    return []
  }
}

function toTodo(item: unknown): Todo[] {
  if (typeof item !== "object" || item === null || !("content" in item) || !("status" in item)) return []
  return typeof item.content === "string" && typeof item.status === "string"
    ? [{ content: item.content, status: item.status }]
    : []
}
