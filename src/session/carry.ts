// The facts that survive a compaction in the store, as JSON: only what the HUD needs to continue.

import * as z from "zod/mini"
import { parseAs } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { oneLine } from "../text/sanitize.ts"
import type { Todo } from "./entry.ts"
import { emptyFacts, type Facts } from "./facts.ts"

const MAX_FILES = 200
const MAX_FAILURES = 30

const count = z.number().check(z.nonnegative())
const whole = z.int().check(z.nonnegative())
const short = (max: number) => z.string().check(z.maxLength(max))
const list = <T extends z.ZodMiniType>(item: T, max: number) => z.array(item).check(z.maxLength(max))
const schema = z.object({
  calls: whole,
  compactions: whole,
  requests: list(z.object({ text: short(400), call: whole }), 2),
  todos: list(z.object({ content: short(400), status: short(40) }), 100),
  files: list(
    z.object({
      path: short(400),
      readAt: count,
      editedAt: count,
      changedAt: count,
      usedMs: count,
      deleted: z.boolean(),
    }),
    MAX_FILES,
  ),
  failures: list(
    z.object({
      key: short(400),
      detail: short(400),
      kind: z.enum(["check", "command", "tool"]),
      since: whole,
      last: whole,
      times: whole,
    }),
    MAX_FAILURES,
  ),
})

/** Writes the facts, limited to the newest files and failures. */
export function writeCarried(facts: Facts): string {
  const { calls, compactions, requests } = facts
  // paths must be stored unredacted to be of use, so one that contains a secret is left out
  const files = [...facts.files.values()].slice(-MAX_FILES).filter(({ path }) => redact(path) === path)
  const failures = [...facts.failures.values()].slice(-MAX_FAILURES)
  return JSON.stringify({ calls, compactions, requests, todos: facts.todos, files, failures } satisfies z.input<
    typeof schema
  >)
}

/** Reads the facts back; undefined when the text was not written by `writeCarried`. */
export function readCarried(json: string): Facts | undefined {
  const carried = parseAs(schema, json)
  if (!carried) return
  const { files, failures, requests, todos, ...rest } = carried
  // text from the disk is not trusted to be sanitised
  const known = failures.map((one) => ({ ...one, key: oneLine(one.key), detail: oneLine(one.detail) }))
  return {
    ...emptyFacts(),
    ...rest,
    requests: requests.map(({ text, call }) => ({ text: oneLine(text), call })),
    todos: todos
      .map(({ content, status }): Todo => ({ content: oneLine(content), status: oneLine(status) }))
      .filter(({ content }) => content !== ""),
    files: new Map(files.map((file) => [file.path, file])),
    failures: new Map(known.map((failure) => [failure.key, failure])),
  }
}
