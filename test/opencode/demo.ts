// The demo, run by `npm run demo`. The real OpenCode with the plugin works through a scripted task, and every HUD is shown as
// the model received it. Then the same task runs without the plugin, and the two runs are compared. It needs no account,
// key or network. `bun test/opencode/demo.ts [PLUGIN]` runs it with another build of the plugin.

import { resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { createHost, findOpencode, type Host, writeFiles } from "./host.ts"
import { type Provider, startProvider } from "./provider.ts"
import { canonical, commonPrefix, hudsOf, type ModelRequest, withoutHud } from "./request.ts"
import { FILES, type Step, TURNS } from "./script.ts"
import { differences, outlineOf, type StoredMessage } from "./stored.ts"

const MODEL = { provider: "scripted", id: "claude-sonnet-4-5", npm: "@ai-sdk/anthropic" } as const
const CHARS_PER_TOKEN = 4
/** Like a user's pause. Timestamps could not distinguish a change right after the agent's last read from its own writes. */
const BETWEEN_TURNS_MS = 3_000

export type DemoOptions = {
  /** the OpenCode binary, see `findOpencode` */
  opencode: string
  /** the plugin's entry file, or its package, with options */
  plugin: string | readonly [string, object]
  write: (text: string) => void
  /** print in colour */
  colour?: boolean
  signal?: AbortSignal
}

type Outcome = {
  requests: readonly ModelRequest[]
  stored: StoredMessage[]
  root: string
  /** from the first request to the last answer, so without OpenCode's own start */
  workMs: number
}

/** Runs the demo and resolves with an exit code: 0, 1 when something went wrong, 130 when stopped. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { write, signal } = options
  const paint = painter(options.colour ?? false)
  write(`${paint.bold("hudfold's demo")}: the real OpenCode, a scripted model, a temporary repository.\n`)
  write(paint.dim("Bars mark the HUD as the model received it. Arrows show what the agent did next.\n"))
  try {
    const live = await play(
      options,
      options.plugin,
      (request, step, number) => {
        write(`\n${paint.bold(`call ${number}`)} ${paint.dim(describe(request))}\n`)
        for (const line of hudsOf(request).at(-1)?.split("\n") ?? []) write(`  ${paint.cyan("│")} ${line}\n`)
        write(`  ${paint.green("→")} ${step.does}\n`)
      },
      (prompt, changed) => {
        for (const name of changed) write(`\n${paint.yellow(`another program changes ${name}`)}\n`)
        write(`\n${paint.bold("user")} ${prompt}\n`)
      },
    )
    write(paint.dim("\nThe same again without the plugin, for comparison ...\n"))
    const plain = await play(options, undefined)
    return report(live, plain, write, paint)
  } catch (cause) {
    if (signal?.aborted) {
      write("\nstopped; nothing is left behind\n")
      return 130
    }
    write(`\nthe demo failed: ${cause instanceof Error ? cause.message : String(cause)}\n`)
    return 1
  }
}

async function play(
  { opencode, signal }: DemoOptions,
  plugin: DemoOptions["plugin"] | undefined,
  shown: (request: ModelRequest, step: Step, number: number) => void = () => {},
  asked: (prompt: string, changed: string[]) => void = () => {},
): Promise<Outcome> {
  signal?.throwIfAborted()
  const provider = await startProvider()
  const host = createHost({
    opencode,
    url: provider.url,
    snapshots: true,
    models: [MODEL],
    files: FILES,
    ...(plugin ? { plugin } : {}),
  })
  try {
    return await work(provider, host, shown, asked, signal)
  } finally {
    await host.close()
    await provider.close()
  }
}

async function work(
  provider: Provider,
  host: Host,
  shown: (request: ModelRequest, step: Step, number: number) => void,
  asked: (prompt: string, changed: string[]) => void,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const client = await host.serve()
  const session = await client.create()
  let number = 0
  let workMs = 0
  for (const turn of TURNS) {
    if (turn.changed) {
      await delay(BETWEEN_TURNS_MS, undefined, signal ? { signal } : {})
      writeFiles(host.project, turn.changed)
    }
    asked(turn.prompt, Object.keys(turn.changed ?? {}))
    const steps = [...turn.steps]
    provider.play((request) => {
      if (request.caller !== "main") return undefined
      const step = steps.shift()
      if (!step) return undefined
      shown(request, step, ++number)
      return step.reply
    })
    const begun = Date.now()
    await client.prompt(session, turn.prompt, signal ? { signal } : {})
    workMs += Date.now() - begun
    if (steps.length > 0) throw new Error(`the turn ended ${steps.length} steps early; OpenCode's log:\n${host.log()}`)
  }
  return { requests: provider.from("main"), stored: await client.messages(session), root: host.root, workMs }
}

function report(
  live: Outcome,
  plain: Outcome,
  write: (text: string) => void,
  paint: ReturnType<typeof painter>,
): number {
  const changed = differences(outlineOf(plain.stored, plain.root), outlineOf(live.stored, live.root))
  const sizes = live.requests.map((request) => Math.ceil((hudsOf(request).at(-1)?.length ?? 0) / CHARS_PER_TOKEN))
  const shown = sizes.filter((size) => size > 0)
  const mean = shown.reduce((sum, size) => sum + size, 0) / Math.max(1, shown.length)
  write(`\n${paint.bold("measured")}\n`)
  write(
    table([
      ["", "with the plugin", "without"],
      ["calls", String(live.requests.length), String(plain.requests.length)],
      ["calls with a HUD", `${shown.length} of ${sizes.length}`, "0"],
      ["HUD tokens per call", `${Math.round(mean)} on average, ${Math.max(0, ...sizes)} at most`, "0"],
      ["input tokens, all calls", String(inputOf(live)), String(inputOf(plain))],
      ["not from the cache", String(freshOf(live)), String(freshOf(plain))],
      ["share of a request equal to the one before", percent(stableShare(live)), percent(stableShare(plain))],
      ["requests that fold something sent before", String(changesIn(live).folds), String(changesIn(plain).folds)],
      ["requests that change anything else", String(changesIn(live).others), String(changesIn(plain).others)],
      ["stored messages changed", changed.length === 0 ? "none" : `${changed.length}`, "-"],
      ["time for the work", seconds(live.workMs), seconds(plain.workMs)],
    ]),
  )
  for (const change of changed.slice(0, 5)) write(`  ${change.slice(0, 300)}\n`)
  return changed.length === 0 && shown.length > 0 && live.requests.length === plain.requests.length ? 0 : 1
}

/**
 * Counts the requests that change an earlier message, HUDs aside, which invalidates the cache from there on: because an
 * output was folded, or for any other reason.
 */
function changesIn({ requests }: Outcome): { folds: number; others: number } {
  const said = requests.map(withoutHud)
  const changed = said.map((now, at) => now.filter((message, i) => message !== (said[at - 1]?.[i] ?? message)))
  return {
    folds: changed.filter((messages) => messages.some((message) => FOLDED.test(message))).length,
    others: changed.filter((messages) => messages.some((message) => !FOLDED.test(message))).length,
  }
}

const FOLDED = /folded r\d+/

/** Mean share of a request that equals the beginning of the request before it. */
function stableShare({ requests }: Outcome): number {
  const shares = requests.slice(1).map((request, at) => {
    const text = canonical(request.body)
    return commonPrefix(text, canonical((requests[at] as ModelRequest).body)) / text.length
  })
  return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length)
}

function freshOf({ requests }: Outcome): number {
  return requests.reduce((sum, { usage }) => sum + usage.input + usage.cacheWrite, 0)
}

function inputOf({ requests }: Outcome): number {
  return requests.reduce((sum, { usage }) => sum + usage.input + usage.cacheRead + usage.cacheWrite, 0)
}

function describe({ usage }: ModelRequest): string {
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  return `${(input / 1000).toFixed(1)}k tokens in, ${percent(usage.cacheRead / input)} of it cached`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

type Painter = Readonly<Record<"bold" | "dim" | "cyan" | "green" | "yellow", (text: string) => string>>

/** Whether to print in colour: on a terminal, unless the user turned it off (https://no-color.org). */
function wantsColour(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb"
}

function painter(colour: boolean): Painter {
  const code = (open: number, close: number) => (text: string) =>
    colour ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return { bold: code(1, 22), dim: code(2, 22), cyan: code(36, 39), green: code(32, 39), yellow: code(33, 39) }
}

/** Rows as lines, with every column as wide as its longest cell. */
function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length)
    })
  }
  const lines = rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd())
  return `${lines.join("\n")}\n`
}

if (import.meta.main) {
  try {
    process.exitCode = await runDemo({
      opencode: findOpencode(),
      plugin: resolve(process.argv[2] ?? fileURLToPath(new URL("../../dist/plugin.js", import.meta.url))),
      write: (text) => void process.stdout.write(text),
      colour: wantsColour(process.stdout, process.env),
    })
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
    process.exitCode = 2
  }
}
