// What the ledger carries across a compaction, as JSON: enough for the HUD to go on, and no more.

import * as z from "zod/mini"
import type { Todo } from "./entry.ts"
import { emptyFacts, type Facts } from "./facts.ts"

const FILES = 200
const FAILURES = 30

const count = z.number().check(z.nonnegative())
const short = (max: number) => z.string().check(z.maxLength(max))
const list = <T extends z.ZodMiniType>(item: T, most: number) => z.array(item).check(z.maxLength(most))
const schema = z.object({
  calls: count,
  compactions: count,
  requests: list(z.object({ text: short(400), call: count }), 2),
  todos: list(z.object({ content: short(400), status: short(40) }), 100),
  files: list(
    z.object({
      path: short(400),
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
    FILES,
  ),
  failures: list(
    z.object({
      key: short(400),
      detail: short(400),
      kind: z.enum(["check", "command", "tool"]),
      since: count,
      last: count,
      times: count,
    }),
    FAILURES,
  ),
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
