// `hudfold setup`: installs the local engine and a model, and tests them. The work is done in `src/setup/`; here are the
// arguments and the output.

import { type Places, placesIn } from "../engine/installed.ts"
import { runningWords } from "../engine/run.ts"
import { gpuChoiceSchema } from "../engine/wire/messages.ts"
import { askHub } from "../setup/download.ts"
import { installEngine } from "../setup/engine.ts"
import { withLock } from "../setup/lock.ts"
import type { Machine } from "../setup/machine.ts"
import { setModelInUse } from "../setup/models.ts"
import { installedPaths, type ModelPlan, type Plan, planSetup, uninstall } from "../setup/plan.ts"
import { type Trial, tryOut } from "../setup/try-out.ts"
import { dataFolder, shippedFile } from "../system/data-folder.ts"
import { byteSize, seconds } from "../text/format.ts"
import { defineCommand, readChoice, UsageError } from "./command.ts"
import { fetchModel } from "./model.ts"
import { escapedJson, escapedLine, print, untilInterrupted, wrapped } from "./terminal.ts"

export const setup = defineCommand({
  description: "Install the local engine and a model to write digests",
  args: {
    model: {
      type: "string",
      valueHint: "NAME|hf:URI|PATH",
      description:
        "A name from `hudfold model list`, hf:owner/repository:QUANT, hf:owner/repository/file.gguf, or a GGUF file",
    },
    "no-model": { type: "boolean", description: "Install the engine alone" },
    gpu: {
      type: "string",
      valueHint: "auto|off|cuda|vulkan|metal",
      description: "The device the engine is installed for",
    },
    test: { type: "boolean", description: "Test the model even if nothing had to be installed" },
    "dry-run": { type: "boolean", description: "Show what would be done and change nothing" },
    uninstall: { type: "boolean", description: "Remove the engine and the fetched models" },
    "keep-models": { type: "boolean", description: "With --uninstall: keep the models" },
    json: { type: "boolean", description: "Print the result as JSON, and everything else on stderr" },
  },
  run: (args) =>
    untilInterrupted(async (signal) => {
      const output = args.json ? process.stderr : process.stdout
      const outcome = await (args.uninstall ? remove(args, output, signal) : runSetup(args, output, signal))
      if (args.json) print(escapedJson(outcome))
      return 0
    }, "run it again to continue"),
})

type Given = Record<"model" | "gpu", string | undefined> &
  Record<"no-model" | "test" | "dry-run" | "keep-models", boolean | undefined>

async function runSetup(args: Given, output: NodeJS.WriteStream, signal: AbortSignal) {
  if (args["keep-models"]) throw new UsageError("--keep-models can only be used with --uninstall")
  if (args.model !== undefined && args["no-model"]) throw new UsageError("--model and --no-model cannot be combined")
  const gpu = readChoice("--gpu", args.gpu, gpuChoiceSchema.options)
  const model = args["no-model"] ? false : args.model
  const say = (text: string) => void output.write(`${wrapped(escapedLine(text), 2, 0)}\n`)
  const places = placesIn(dataFolder())
  const main = shippedFile("the sidecar's program", import.meta.url, ["./sidecar.js", "../../dist/sidecar.js"])
  const plan = await planSetup({ env: process.env, places, main, gpu, model, signal })
  for (const line of describePlan(plan, places)) say(line)
  if (args["dry-run"]) {
    say("nothing was changed (--dry-run)")
    return { plan }
  }
  return withLock(places.setupLock, { signal, onWait: say }, async () => {
    const started = performance.now()
    // before anything is installed that would be of no use without the model
    if (plan.model?.kind === "hub" && !plan.model.isThere) await askHub(plan.model.file, process.env, signal)
    const { variants, fetchedBytes, installedBytes } = plan.engine
    const engine = await installEngine(variants, places, main, {
      sizeBytes: fetchedBytes + installedBytes,
      signal,
      onInstall: ({ name }) => say(`engine: installing with ${name}`),
    })
    if (engine !== "present") say(`engine: ${engine} in ${seconds(performance.now() - started)}`)
    if (!plan.model) {
      say("no model was requested; `hudfold model use` chooses one")
      return { plan, engine }
    }
    if (engine === "present" && plan.model.kind === "kept" && !args.test) {
      say("already installed; nothing was changed (--test tests it)")
      return { plan, engine, model: plan.model.record }
    }
    const planned = plan.model
    const label = planned.kind === "hub" ? `model: ${planned.name}` : "model"
    const record = await fetchModel(planned, label, output, signal)
    if (planned.kind === "hub" && !planned.file.sha256) say("model: the hub gives no checksum, so nothing was checked")
    say("testing it on a sample …")
    const options = { gpu: gpu ?? "auto", threads: 0, memoryMB: 0, runtime: "auto" } as const
    const trial = await tryOut(places, record, { options, signal })
    for (const line of describeTrial(trial)) say(line)
    setModelInUse(places, record)
    say(`model: ${record.name} is now in use; OpenCode loads it at its next start`)
    return { plan, engine, model: record, trial }
  })
}

async function remove(args: Given, output: NodeJS.WriteStream, signal: AbortSignal) {
  const given = (["model", "no-model", "gpu", "test"] as const).find((name) => args[name] !== undefined)
  if (given) throw new UsageError(`--${given} cannot be combined with --uninstall; --keep-models keeps the models`)
  const { "keep-models": keepModels = false, "dry-run": dryRun = false } = args
  const say = (text: string) => void output.write(`${escapedLine(text)}\n`)
  const places = placesIn(dataFolder())
  const found = await installedPaths(places, keepModels)
  if (found.length === 0) say(`nothing that setup installs is in ${dataFolder()}`)
  for (const path of found) say(`${dryRun ? "would remove" : "removing"} ${path}`)
  if (dryRun || found.length === 0) return { found, removed: false }
  await uninstall(places, keepModels, { signal, onWait: say })
  say("removed; from OpenCode's next start on, digests are made without a model")
  return { found, removed: true }
}

/** As measured in docs/digests.md. */
const GAIN = "As measured, a small model's digests hold no more of what agents need; without one, code writes them all."

function describePlan({ machine, engine, model, missing }: Plan, places: Places): string[] {
  const size = `about ${byteSize(engine.fetchedBytes)} to fetch, ${byteSize(engine.installedBytes)} on disk`
  const what = `engine: node-llama-cpp ${engine.version} with ${engine.variants.join(" and ")} (${engine.why})`
  return [
    `machine: ${describeMachine(machine)}`,
    `${what}, ${engine.isThere ? "already installed" : size}, in ${places.sidecar}`,
    ...(missing
      ? [`warning: the model in use, ${missing.name}, is no longer at ${missing.path}, cannot be read, or has changed`]
      : []),
    ...(model ? [`model: ${describeModel(model)}`, GAIN, ...describeMemory(model, machine)] : []),
  ]
}

function describeMemory({ sizeBytes }: ModelPlan, { availableBytes }: Machine): string[] {
  if (sizeBytes === undefined) return []
  const needs = sizeBytes * 1.2 + 300e6
  const memory = `memory: about ${byteSize(needs)} while it works, ${byteSize(availableBytes)} free`
  return [needs > availableBytes ? `warning: ${memory}, so it may be refused` : memory]
}

function describeModel(model: ModelPlan): string {
  const { name, path } = model
  const size = model.sizeBytes === undefined ? "size unknown" : byteSize(model.sizeBytes)
  if (model.kind === "kept") return `${name} is in use and is kept, ${size}, in ${path}`
  if (model.kind === "file") return `${name}, ${size}, your file ${path}`
  const licence = model.licence ? `licence ${model.licence}` : "see its page for the licence"
  return `${name}, ${size}, ${licence}, ${model.isThere ? "already fetched" : `from ${model.file.url}`}, in ${path}`
}

function describeMachine({ platform, arch, libc, cpu, cores, memoryBytes, availableBytes, gpu }: Machine): string {
  const system = [platform, arch, libc && (libc.name === "glibc" ? `glibc ${libc.version}` : libc.name)].filter(Boolean)
  const memory = `${byteSize(availableBytes)} of ${byteSize(memoryBytes)} memory free`
  return [system.join(" "), `${cpu}, ${cores} cores`, memory, ...(gpu.nvidia ? ["NVIDIA"] : [])].join("; ")
}

function describeTrial({ capabilities, promptTokens, outputTokens, elapsedMs, digest, words }: Trial): string[] {
  const { fallback } = capabilities
  return [
    runningWords(capabilities),
    ...(fallback ? [`a better device could not be used: ${fallback}`] : []),
    `${promptTokens} tokens read and ${outputTokens} written in ${seconds(elapsedMs)}: ${digest ?? "the sample does not support what it wrote, which would be discarded"}`,
    words,
  ]
}
