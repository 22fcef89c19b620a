// What the ledger carries across a compaction, as JSON: enough for the HUD to go on, and no more.

import * as z from "zod"
import type { Todo } from "./entry.ts"
import { emptyFacts, type Facts } from "./facts.ts"

const FILES = 200
const FAILURES = 30

const count = z.number().nonnegative()
const schema = z.object({
  calls: count,
  compactions: count,
  requests: z.array(z.object({ text: z.string().max(400), call: count })).max(2),
  todos: z.array(z.object({ content: z.string().max(400), status: z.string().max(40) })).max(100),
  files: z
    .array(
      z.object({
        path: z.string().max(400),
        reads: count,
        edits: count,
        readAt: count,
        editedAt: count,
        changedAt: count,
        usedMs: count,
        deleted: z.boolean(),
        heat: count,
        heatAt: count,
      }),
    )
    .max(FILES),
  failures: z
    .array(
      z.object({
        key: z.string().max(400),
        detail: z.string().max(400),
        kind: z.enum(["check", "command", "tool"]),
        since: count,
        last: count,
        times: count,
      }),
    )
    .max(FAILURES),
})

/** The facts worth carrying, newest kept where there are too many. */
export function writeCarried(facts: Facts): string {
  const { calls, compactions, requests } = facts
  const files = [...facts.files.values()].slice(-FILES).map(({ range: _, ...file }) => file)
  const failures = [...facts.failures.values()].slice(-FAILURES)
  return JSON.stringify({ calls, compactions, requests, todos: facts.todos, files, failures } satisfies z.input<
    typeof schema
  >)
}

/** The facts an earlier process carried; undefined when the text is not what `writeCarried` writes. */
export function readCarried(json: string): Facts | undefined {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) return
  const { files, failures, ...rest } = parsed.data
  return {
    ...emptyFacts(),
    ...rest,
    todos: rest.todos satisfies Todo[],
    files: new Map(files.map((file) => [file.path, file])),
    failures: new Map(failures.map((failure) => [failure.key, failure])),
  }
}
