// What the setup dialog says: the plan that the command line made, in a few lines, and the progress.

import * as z from "zod/mini"
import { measuredGain, memoryNeeded } from "../engine/installed.ts"
import { parseAs } from "../system/values.ts"
import { byteSize } from "../text/format.ts"
import { fit } from "./text.ts"

const planSchema = z.object({
  plan: z.object({
    machine: z.object({ availableBytes: z.number() }),
    engine: z.object({
      version: z.string(),
      variants: z.array(z.string()),
      why: z.string(),
      fetchedBytes: z.number(),
      installedBytes: z.number(),
      isThere: z.boolean(),
    }),
    model: z.optional(
      z.object({
        kind: z.string(),
        name: z.optional(z.string()),
        isThere: z.optional(z.boolean()),
        licence: z.optional(z.string()),
        sizeBytes: z.optional(z.number()),
        file: z.optional(z.object({ sizeBytes: z.optional(z.number()) })),
        record: z.optional(z.object({ name: z.string(), sizeBytes: z.number() })),
      }),
    ),
  }),
})

const BRINGS = "a sentence for outputs that rules say little about: pages, documents, code."
const UNKNOWN = "How much this model adds was not measured."
const WITHOUT = "Without a model rules write all digests, and no request ever waits for one."

/** The plan as rows, from what `setup --dry-run --json` prints; undefined when that is not a plan. */
export function planRows(json: string): { name: string; said: string }[] | undefined {
  const { engine, model, machine } = parseAs(planSchema, json)?.plan ?? {}
  if (!engine || !machine) return
  const name = model?.record?.name ?? model?.name ?? "none"
  const bytes = model?.record?.sizeBytes ?? model?.file?.sizeBytes ?? model?.sizeBytes ?? 0
  const isThere = model?.kind !== "hub" || model.isThere === true
  const size = bytes > 0 ? `, ${byteSize(bytes)}` : ""
  const licence = model?.licence ? `, licence ${model.licence}` : ""
  const fetched = (engine.isThere ? 0 : engine.fetchedBytes) + (isThere ? 0 : bytes)
  const installed = (engine.isThere ? 0 : engine.installedBytes) + (isThere ? 0 : bytes)
  const there = fetched === 0 ? "nothing to fetch: it is installed" : `${byteSize(fetched)} to fetch`
  return [
    { name: "Model", said: `${name}${size}${licence}${isThere ? ", already here" : ""}` },
    { name: "Engine", said: `node-llama-cpp ${engine.version}, ${engine.variants.join(" and ")} (${engine.why})` },
    { name: "In all", said: fetched === 0 ? there : `${there}, ${byteSize(installed)} on disk` },
    {
      name: "Memory",
      said: `about ${byteSize(memoryNeeded(bytes))} while it works, ${byteSize(machine.availableBytes)} free`,
    },
    { name: "Brings", said: `${BRINGS} ${measuredGain(name) ?? UNKNOWN} ${WITHOUT}` },
    { name: "Others", said: "hudfold model list shows larger models, hudfold model use chooses one" },
  ]
}

export type SetupStep = { number: 1 | 2 | 3; what: string; share?: number; last: string }

/** How far the setup has come after one more line of its output. */
export function nextStep(before: SetupStep | undefined, line: string): SetupStep {
  const share = /\b(\d{1,3})% of /.exec(line)?.[1]
  if (line.startsWith("engine:")) return { number: 1, what: "installing the engine", last: line }
  if (line.startsWith("testing") || before?.number === 3) return { number: 3, what: "testing the model", last: line }
  if (line.startsWith("model:") || line.startsWith("model "))
    return { number: 2, what: "fetching the model", last: line, ...(share ? { share: Number(share) / 100 } : {}) }
  return before ? { ...before, last: line } : { number: 1, what: "installing the engine", last: line }
}

const BAR_COLUMNS = 30

/** One line: the step, and a bar where its share is known. */
export function stepWords({ number, what, share }: SetupStep, width: number): string {
  const words = `step ${number} of 3: ${what}`
  if (share === undefined) return fit(words, width)
  const full = Math.round(share * BAR_COLUMNS)
  return fit(`${words}  ${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)} ${Math.floor(share * 100)}%`, width)
}
