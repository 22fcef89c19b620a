// `hudfold model`: lists the models, fetches and removes their files, and chooses the one in use.

import { resolve } from "node:path"
import { type Places, placesIn, readInstalled } from "../engine/installed.ts"
import { withLock } from "../setup/lock.ts"
import {
  fetchedModels,
  fetchedPath,
  findFetched,
  type ListedModel,
  MODELS,
  readReference,
  setModelInUse,
} from "../setup/models.ts"
import { applyModelPlan, type ModelPlan, planReference, removeInstalledPaths } from "../setup/plan.ts"
import { dataFolder } from "../system/data-folder.ts"
import { byteSize, inShell } from "../text/format.ts"
import { type Command, defineCommand, JSON_ARGUMENT, quoteArgument, UsageError } from "./command.ts"
import { startProgress } from "./progress.ts"
import { escapedJson, escapedLine, print, untilInterrupted, wrapped } from "./terminal.ts"

const ON_HUB = "A name from `hudfold model list`, or hf:owner/repository:QUANT or hf:owner/repository/file.gguf"
const name = { type: "positional", required: true, description: `${ON_HUB}, or the path of a file` } as const

const list = defineCommand({
  description: "List the known models, the fetched ones and the one in use",
  args: { json: JSON_ARGUMENT },
  async run(args) {
    const rows = await listModels(placesIn(dataFolder()))
    print(args.json ? escapedJson(rows) : listOf(rows))
    return 0
  },
})

const pull = defineCommand({
  description: "Fetch a model",
  args: { name: { ...name, description: ON_HUB } },
  run: (args) =>
    untilInterrupted(async (signal) => {
      const reference = readReference(args.name)
      if (reference.kind === "path") {
        const what = `${quoteArgument(args.name)} is a file, which needs no fetching`
        throw new UsageError(`${what}; to use it: hudfold model use ${inShell(args.name)}`)
      }
      const places = placesIn(dataFolder())
      const plan = await planReference(reference, places, process.env, signal)
      const { name, path } = plan
      if (reference.listed) say(`${name}: licence ${reference.listed.licence}`)
      await withLock(places.setupLock, { signal, onWait: say }, () => fetchModel(plan, name, process.stdout, signal))
      if (plan.kind === "hub" && !plan.file.sha256) say("the hub gives no checksum for it, so nothing was checked")
      say(`${name} is in ${path}`)
      const { model: current } = await readInstalled(places)
      const inUse = current ? `${current.name} is in use` : "no model is in use"
      if (current?.path !== path) say(`${inUse}; to change that: hudfold model use ${inShell(name)}`)
      return 0
    }, "run it again to continue"),
})

const use = defineCommand({
  description: "Use this model for digests, from OpenCode's next start on",
  args: { name },
  run: (args) =>
    untilInterrupted(async (signal) => {
      const places = placesIn(dataFolder())
      const pulled = await findFetched(places, args.name)
      const reference = pulled ? ({ kind: "path", path: pulled.path } as const) : readReference(args.name)
      if (reference.kind === "hub")
        throw new UsageError(`${args.name} has not been fetched; to fetch it: hudfold model pull ${args.name}`)
      const plan = await planReference(reference, places, process.env, signal)
      const record = await applyModelPlan(pulled ? { ...plan, name: pulled.name } : plan, { env: process.env, signal })
      setModelInUse(places, record)
      say(`${record.name} is in use (${byteSize(record.sizeBytes)}, ${record.path})`)
      const { engine } = await readInstalled(places)
      // only the beginning of the file was looked at
      const next = "the engine, which runs it, is not installed; to install it: hudfold setup"
      say(engine ? "to test it: hudfold setup --test" : next)
      return 0
    }, "nothing was changed"),
})

const remove = defineCommand({
  description: "Delete a fetched model",
  args: { name, force: { type: "boolean", description: "Delete it even if it is in use" } },
  async run(args) {
    const places = placesIn(dataFolder())
    const [pulled, { model: current }] = await Promise.all([findFetched(places, args.name), readInstalled(places)])
    if (!pulled) {
      const isNamed = args.name === current?.name || resolve(args.name) === current?.path
      if (isNamed && !current?.path.startsWith(places.models)) {
        const what = `${quoteArgument(args.name)} is your own file, which is not deleted`
        throw new UsageError(`${what}; to use no model, set the option digest.backend to "extract"`)
      }
      const names = (await fetchedModels(places)).map((model) => model.name).join(", ")
      const there = names ? `fetched are ${names}` : "none has been fetched"
      throw new UsageError(`no fetched model is called ${quoteArgument(args.name)}; ${there}`)
    }
    const isInUse = current?.path === pulled.path
    if (isInUse && !args.force)
      throw new UsageError(`${pulled.name} is in use; use another one first, or add --force to have none`)
    await removeInstalledPaths(places, isInUse ? [places.modelRecord, pulled.path] : [pulled.path])
    say(`removed ${pulled.name} (${byteSize(pulled.sizeBytes)})${isInUse ? "; no model is in use now" : ""}`)
    return 0
  },
})

export const model: Command = {
  description: "List, fetch, choose and remove the models that write digests",
  commands: { list: () => list, pull: () => pull, use: () => use, remove: () => remove },
}

/** Downloads a planned model if necessary and shows the progress, with a line when a connection is retried. */
export async function fetchModel(plan: ModelPlan, label: string, output: NodeJS.WriteStream, signal: AbortSignal) {
  const { update: onProgress, end } = startProgress(output, label)
  const onRetry = (reason: string) => {
    end()
    output.write(`${escapedLine(`${label}: ${reason.replace(/\.?$/, ".")} Trying again`)}\n`)
  }
  try {
    return await applyModelPlan(plan, { env: process.env, signal, onProgress, onRetry })
  } finally {
    end()
  }
}

/** `path`: of its file, when it was fetched or is the user's own. */
type Row = Pick<ListedModel, "name" | "sizeBytes"> &
  Partial<Pick<ListedModel, "licence" | "needs" | "goodFor">> & { path?: string; inUse: boolean }

async function listModels(places: Places): Promise<Row[]> {
  const [pulled, { model: current }] = await Promise.all([fetchedModels(places), readInstalled(places)])
  const listed = MODELS.map(({ name, sizeBytes, licence, needs, goodFor, ...where }) => {
    const path = pulled.find((model) => model.path === fetchedPath(places, where))?.path
    return { name, sizeBytes, licence, needs, goodFor, ...(path ? { path } : {}) }
  })
  const others = pulled.filter(({ path }) => !listed.some((row) => row.path === path))
  const own = current && !pulled.some(({ path }) => path === current.path) ? [current] : []
  const used = own.map(({ name, sizeBytes, path }) => ({ name, sizeBytes, path }))
  return [...listed, ...others, ...used].map((row) => ({ ...row, inUse: !!row.path && row.path === current?.path }))
}

function listOf(rows: readonly Row[]): string {
  const widest = Math.max(...MODELS.map(({ name }) => name.length))
  const lines = rows.map(({ name, sizeBytes, licence, needs, goodFor, path, inUse }) => {
    const about = escapedLine(goodFor ? `${goodFor}; needs ${needs}; ${licence}` : (path ?? ""))
    const size = byteSize(sizeBytes).padStart(6)
    return `${inUse ? "*" : path ? "+" : " "} ${escapedLine(name).padEnd(widest)}  ${size}  ${wrapped(about, widest + 12)}`
  })
  return [...lines, "", wrapped("* in use, + fetched; also any hf:owner/repository:QUANT and any GGUF file")].join("\n")
}

function say(text: string): void {
  print(escapedLine(text))
}
