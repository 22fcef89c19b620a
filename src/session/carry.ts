// The facts that survive a compaction in the store, as JSON: only what the HUD needs to continue.

import * as z from "zod/mini"
import { parseAs } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { MAX_TODOS } from "./entry.ts"
import { countSchema, emptyFacts, type Facts, failureSchema, fileSchema, requestSchema, storedLine } from "./facts.ts"

const MAX_FILES = 200
const MAX_FAILURES = 30

const list = <T extends z.ZodMiniType>(item: T, max: number) => z.array(item).check(z.maxLength(max))
const schema = z.object({
  calls: countSchema,
  compactions: countSchema,
  requests: list(requestSchema, 2),
  todos: list(z.object({ content: storedLine(400), status: storedLine(40) }), MAX_TODOS),
  files: list(fileSchema, MAX_FILES),
  failures: list(failureSchema, MAX_FAILURES),
})

/** Writes the facts, limited to the newest files and failures. */
export function writeCarried(facts: Facts): string {
  // paths must be stored unredacted to be of use, so one that contains a secret is left out
  const files = [...facts.files.values()].slice(-MAX_FILES).filter(({ path }) => redact(path) === path)
  const failures = [...facts.failures.values()].slice(-MAX_FAILURES)
  const { calls, compactions, requests, todos } = facts
  return JSON.stringify({ calls, compactions, requests, todos, files, failures } satisfies z.input<typeof schema>)
}

/** Reads the facts back; undefined when the text was not written by `writeCarried`. */
export function readCarried(json: string): Facts | undefined {
  const carried = parseAs(schema, json)
  if (!carried) return
  const { files, failures, todos, ...rest } = carried
  return {
    ...emptyFacts(),
    ...rest,
    todos: todos.filter(({ content }) => content !== ""),
    files: new Map(files.map((file) => [file.path, file])),
    failures: new Map(failures.map((failure) => [failure.key, failure])),
  }
}
