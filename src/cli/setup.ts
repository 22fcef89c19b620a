// `hudfold setup`: the local engine and a model for it, fetched, checked and tried out. All of it is in `src/setup/`;
// here is what is asked and what is said.
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineCommand } from "citty"
import manifest from "../../package.json" with { type: "json" }
import { placesIn } from "../engine/installed.ts"
import { gpuChoiceSchema } from "../engine/wire/messages.ts"
import { megabytes } from "../setup/folder.ts"
import { carryOutEngine, carryOutModel, planSetup } from "../setup/plan.ts"
import { takeIntoUse } from "../setup/shelf.ts"
import { tryOut } from "../setup/try-out.ts"
import { findInstalled, uninstall } from "../setup/uninstall.ts"
import { dataFolder } from "../system/data-folder.ts"
import { quote } from "./arguments.ts"
import { untilInterrupted } from "./interrupt.ts"
import { withProgress } from "./progress.ts"
import { describePlan, describeTrial, describeTrust, seconds } from "./setup-words.ts"
import { oneLine, print, UsageError } from "./terminal.ts"

export const setup = defineCommand({
  meta: { name: "setup", description: "Install the local engine and a model that write digests, or say what is there" },
  args: {
    model: {
      type: "string",
      valueHint: "NAME|hf:URI|PATH",
      description: "A name of `hudfold model list`, hf:owner/repository:QUANT or /file.gguf, or a GGUF file",
    },
    "no-model": { type: "boolean", description: "Install the engine alone" },
    gpu: { type: "string", valueHint: "auto|off|cuda|vulkan|metal", description: "What the engine is installed for" },
    test: { type: "boolean", description: "Try out what is installed, even if there was nothing to install" },
    "dry-run": { type: "boolean", description: "Say what would be done and change nothing" },
    uninstall: { type: "boolean", description: "Remove the engine and the fetched models" },
    "keep-models": { type: "boolean", description: "With --uninstall: leave the models" },
    json: { type: "boolean", description: "Print the outcome as JSON, everything else on stderr" },
  },
  run: ({ args, rawArgs }) =>
    untilInterrupted((signal) => {
      if (args.uninstall) return takeAway(args["keep-models"] === true, args["dry-run"] === true, signal)
      if (args["keep-models"]) throw new UsageError("--keep-models goes with --uninstall only")
      const model = readModel(args.model, rawArgs)
      return putThere({ ...args, model, gpu: readGpu(args.gpu), dryRun: args["dry-run"] === true }, signal)
    }, "run it again to go on"),
})

type Wanted = {
  model: string | false | undefined
  gpu: ReturnType<typeof readGpu>
  dryRun: boolean
  test?: boolean | undefined
  json?: boolean | undefined
}

async function putThere(wanted: Wanted, signal: AbortSignal): Promise<number> {
  const output = wanted.json ? process.stderr : process.stdout
  const outcome = await carryOut(wanted, output, signal)
  if (wanted.json) print(JSON.stringify(outcome, null, 2))
  return 0
}

async function carryOut({ model, gpu, dryRun, test }: Wanted, output: NodeJS.WriteStream, signal: AbortSignal) {
  const say = (text: string) => void output.write(`${oneLine(text)}\n`)
  const places = placesIn(dataFolder())
  const main = sidecarPath()
  const plan = await planSetup({ env: process.env, places, main, gpu, model, signal })
  for (const line of describePlan(plan, places)) say(line)
  if (dryRun) {
    say("nothing was changed (--dry-run)")
    return { plan }
  }
  const onWait = (pid: number) => say(`another setup is at work (process ${pid}); waiting for it`)
  const started = performance.now()
  const engine = await carryOutEngine(plan.engine, places, main, {
    signal,
    onWait,
    onInstall: ({ name }) => say(`engine: installing with ${name}`),
  })
  if (engine !== "present") say(`engine: ${engine} in ${seconds(performance.now() - started)}`)
  if (!plan.model) {
    say("no model was asked for; `hudfold model use` chooses one")
    return { plan, engine }
  }
  if (engine === "present" && plan.model.kind === "kept" && !test) {
    say("already installed; nothing was changed (--test tries it out)")
    return { plan, engine, model: plan.model.record }
  }
  const planned = plan.model
  const record = await withProgress(output, planned.kind === "hub" ? `model: ${planned.name}` : "model", (told) =>
    carryOutModel(planned, { env: process.env, signal, onWait, ...told }),
  )
  for (const line of describeTrust(planned)) say(line)
  say("trying it out on a sample …")
  const trial = await tryOut(places, record, { gpu: gpu ?? "auto", version: manifest.version, signal })
  for (const line of describeTrial(trial)) say(line)
  await takeIntoUse(places, record)
  say(`model: ${record.name} is in use, by OpenCode from its next start on`)
  return { plan, engine, model: record, trial }
}

async function takeAway(keepModels: boolean, dryRun: boolean, signal: AbortSignal): Promise<number> {
  const say = (text: string) => void process.stdout.write(`${oneLine(text)}\n`)
  const places = placesIn(dataFolder())
  const found = await findInstalled(places, keepModels)
  if (found.length === 0) {
    say(`nothing of setup's is in ${dataFolder()}`)
    return 0
  }
  for (const { path, sizeBytes } of found)
    say(`${dryRun ? "would remove" : "removing"} ${path} (${megabytes(sizeBytes)})`)
  if (dryRun) return 0
  await uninstall(places, keepModels, {
    signal,
    onWait: (pid) => say(`a setup is at work (process ${pid}); waiting for it`),
  })
  say("removed; digests are made without a model from now on")
  return 0
}

/** Beside the bundled CLI, or built for the sources. */
function sidecarPath(): string {
  const places = ["./sidecar.js", "../../dist/sidecar.js"].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  )
  const path = places.find((place) => existsSync(place))
  if (path === undefined) throw new Error(`the sidecar's program is not where it was installed: ${places[0]}`)
  return path
}

/** `false`: none is wanted; citty takes --no-model for the denial of --model. */
function readModel(given: unknown, rawArgs: readonly string[]): string | false | undefined {
  const isNamed = rawArgs.some((arg) => arg === "--model" || arg.startsWith("--model="))
  if (!rawArgs.includes("--no-model")) return typeof given === "string" ? given : undefined
  if (isNamed) throw new UsageError("--model and --no-model exclude each other")
  return false
}

function readGpu(text: string | undefined) {
  if (text === undefined) return undefined
  const parsed = gpuChoiceSchema.safeParse(text)
  if (parsed.success) return parsed.data
  throw new UsageError(`--gpu must be one of ${gpuChoiceSchema.options.join(", ")}, got ${quote(text)}`)
}
