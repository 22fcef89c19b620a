// The demo, run by `npm run demo`. The real OpenCode with the plugin works through a short scripted task, and every HUD is
// shown as the model received it; then through a long one, whose last HUD is shown. Both run again without the plugin, and what they cost is
// compared. It needs no account, key or network. `bun test/opencode/demo.ts [PLUGIN]` runs it with another build of the
// plugin.

import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import { createHost, findOpencode, type Host, writeFiles } from "./host.ts"
import { longWork, WORK_FILES } from "./long-work.ts"
import { type Provider, startProvider } from "./provider.ts"
import { canonical, commonPrefix, hudsOf, type ModelRequest, withoutHud } from "./request.ts"
import { FILES, type Step, TURNS, type Turn } from "./script.ts"
import { differences, outlineOf, type StoredMessage } from "./stored.ts"

const MODEL = { provider: "scripted", id: "claude-sonnet-4-5", npm: "@ai-sdk/anthropic" } as const
const CHARS_PER_TOKEN = 4
/** USD for a million tokens of Claude Sonnet 4.5, as models.dev lists them. */
const PRICES = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 }
/** In turns of 36. */
const LONG_STEPS = 108
/** Like a user's pause. Timestamps could not distinguish a change right after the agent's last read from its own writes. */
const BETWEEN_TURNS_MS = 3_000

export type DemoOptions = {
  /** the OpenCode binary, see `findOpencode` */
  opencode: string
  /** the plugin's entry file, or its package, with options */
  plugin: string | readonly [string, object]
  write: (text: string) => void
  /** steps of the long task, 108 by default */
  longSteps?: number
  /** print in colour */
  colour?: boolean
  signal?: AbortSignal
}

type Task = { files: Readonly<Record<string, string>>; turns: readonly Turn[] }

const SHORT: Task = { files: FILES, turns: TURNS }

function longTask(steps: number): Task {
  const turns = longWork(steps).map(({ prompt, replies }) => ({
    prompt,
    steps: replies.map((reply) => ({ does: "", reply })),
  }))
  return { files: WORK_FILES, turns }
}

type Outcome = {
  requests: readonly ModelRequest[]
  stored: StoredMessage[]
  root: string
  /** the share that the plugin itself says it saved */
  said: number | undefined
}

/** Runs the demo and resolves with an exit code: 0, 1 when something went wrong, 130 when stopped. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { write, signal } = options
  const paint = painter(options.colour ?? false)
  write(`${paint.bold("hudfold's demo")}: the real OpenCode, a scripted model, a temporary repository.\n`)
  write(
    paint.dim(
      "Bars mark the HUD as the model received it. The first comes when it can say more than the newest messages; then every request has one, if empty, since what comes and goes breaks the cache of models that think.\n",
    ),
  )
  write(paint.dim("Arrows show what the agent did next.\n"))
  const bars = (request: ModelRequest | undefined) => {
    for (const line of request ? (hudsOf(request).at(-1)?.split("\n") ?? []) : [])
      write(`  ${paint.cyan("│")} ${line}\n`)
  }
  try {
    const live = await play(
      options,
      SHORT,
      options.plugin,
      (request, step, number) => {
        write(`\n${paint.bold(`call ${number}`)} ${paint.dim(describe(request))}\n`)
        bars(request)
        write(`  ${paint.green("→")} ${step.does}\n`)
      },
      (prompt, changed) => {
        for (const name of changed) write(`\n${paint.yellow(`another program changes ${name}`)}\n`)
        write(`\n${paint.bold("user")} ${prompt}\n`)
      },
    )
    write(paint.dim("\nThe same again without the plugin, for comparison ...\n"))
    const plain = await play(options, SHORT, undefined)
    const { longSteps = LONG_STEPS } = options
    write(
      paint.dim(`\nNow a task of ${longSteps} steps, with the plugin and without, which takes a minute or two ...\n`),
    )
    const long = longTask(longSteps)
    const [longLive, longPlain] = await Promise.all([
      play(options, long, options.plugin),
      play(options, long, undefined),
    ])
    write(`\n${paint.bold("the last HUD of the long task")}\n`)
    bars(longLive.requests.at(-1))
    return report({ live, plain }, { live: longLive, plain: longPlain }, write, paint)
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
  { files, turns }: Task,
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
    files,
    ...(plugin ? { plugin } : {}),
  })
  try {
    return await work(turns, provider, host, shown, asked, signal)
  } finally {
    await host.close()
    await provider.close()
  }
}

async function work(
  turns: readonly Turn[],
  provider: Provider,
  host: Host,
  shown: (request: ModelRequest, step: Step, number: number) => void,
  asked: (prompt: string, changed: string[]) => void,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const client = await host.serve()
  const session = await client.create()
  let number = 0
  for (const turn of turns) {
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
    await client.prompt(session, turn.prompt, signal ? { signal } : {})
    if (steps.length > 0) throw new Error(`the turn ended ${steps.length} steps early; OpenCode's log:\n${host.log()}`)
  }
  const folder = statusFolder(join(host.root, "data", "opencode-hudfold"))
  const said = (await readStatus(folder, session))?.saved.share
  return { requests: provider.from("main"), stored: await client.messages(session), root: host.root, said }
}

type Runs = { live: Outcome; plain: Outcome }

function report(short: Runs, long: Runs, write: (text: string) => void, paint: ReturnType<typeof painter>): number {
  const runs = [short, long]
  const changed = runs.flatMap(({ live, plain }) =>
    differences(outlineOf(plain.stored, plain.root), outlineOf(live.stored, live.root)),
  )
  const both = (of: (outcome: Outcome) => string) => runs.flatMap(({ live, plain }) => [of(live), of(plain)])
  const sum = ({ requests }: Outcome, of: (request: ModelRequest) => number) =>
    requests.reduce((total, request) => total + of(request), 0)
  write(`\n${paint.bold("measured")}\n`)
  write(
    table([
      ["", "short task", "without", "long task", "without"],
      ["the whole bill", ...both((outcome) => usd(billOf(outcome)))],
      ["  reads from the cache", ...both((one) => usd(sum(one, ({ usage }) => usage.cacheRead * PRICES.cacheRead)))],
      ["  writes to the cache", ...both((one) => usd(sum(one, ({ usage }) => usage.cacheWrite * PRICES.cacheWrite)))],
      ["  the model's answers", ...both((one) => usd(sum(one, ({ usage }) => usage.output * PRICES.output)))],
      ["calls", ...both(({ requests }) => String(requests.length))],
      ["input tokens, all calls", ...both((one) => amount(sum(one, inputOf)))],
      ["largest request, tokens", ...both(({ requests }) => amount(Math.max(...requests.map(inputOf))))],
      ["requests that fold something sent before", ...both((one) => String(changesIn(one).folds))],
      ["requests that change anything else", ...both((one) => String(changesIn(one).others))],
      ["share of a request equal to the one before", ...both((one) => percent(stableShare(one)))],
    ]),
  )
  write(`  HUD in ${hudsIn(short.live)} of the short task\n`)
  write(`  HUD in ${hudsIn(long.live)} of the long task\n`)
  write(`  stored messages changed: ${changed.length === 0 ? "none" : changed.length}\n`)
  for (const change of changed.slice(0, 5)) write(`    ${change.slice(0, 300)}\n`)
  write(`\n${verdict("The long task", long)}: settled steps leave its requests as records.\n`)
  write(`${verdict("The short one", short)}: nothing in it has settled yet, and what the plugin adds has its price.\n`)
  const isWhole = runs.every(({ live, plain }) => live.requests.length === plain.requests.length)
  return changed.length === 0 && hudSizes(long.live).length > 0 && isWhole && billOf(long.live) < billOf(long.plain)
    ? 0
    : 1
}

function verdict(name: string, { live, plain }: Runs): string {
  const change = (share: number) => `${percent(Math.abs(share))} ${share < 0 ? "less" : "more"}`
  const own = live.said === undefined ? "" : ` (${change(-live.said)} by its own account)`
  return `${name} costs ${change(billOf(live) / billOf(plain) - 1)} with the plugin${own}`
}

/** The HUD of each request that has one, in tokens. */
function hudSizes({ requests }: Outcome): number[] {
  const sizes = requests.map((request) => Math.ceil((hudsOf(request).at(-1)?.length ?? 0) / CHARS_PER_TOKEN))
  return sizes.filter((size) => size > 0)
}

function hudsIn(outcome: Outcome): string {
  const sizes = hudSizes(outcome)
  const calls = `${sizes.length} of the ${outcome.requests.length} calls`
  if (sizes.length === 0) return calls
  const mean = Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length)
  return `${calls}, with ${mean} tokens on average and ${Math.max(...sizes)} at most,`
}

/** What the requests cost, in millionths of USD. */
function billOf({ requests }: Outcome): number {
  const kinds = Object.keys(PRICES) as (keyof typeof PRICES)[]
  return requests.reduce(
    (sum, { usage }) => sum + kinds.reduce((cost, kind) => cost + usage[kind] * PRICES[kind], 0),
    0,
  )
}

/**
 * Counts the requests that change an earlier message, HUDs aside, which invalidates the cache from there on: because an
 * output was folded, or for any other reason.
 */
function changesIn({ requests }: Outcome): { folds: number; others: number } {
  const said = requests.map(withoutHud)
  const changed = said.map((now, at) => !(said[at - 1] ?? []).every((message, i) => message === now[i]))
  const folds = said.map((messages) => messages.filter((message) => FOLDED.test(message)).join("\n"))
  const folding = changed.map((isChanged, at) => isChanged && folds[at] !== folds[at - 1])
  return {
    folds: folding.filter(Boolean).length,
    others: changed.filter((isChanged, at) => isChanged && !folding[at]).length,
  }
}

/** What a request contains once something is folded: a line or a record. */
const FOLDED = /folded r[0-9a-z]{7} ·|kept by hudfold as a record/

/** Mean share of a request that equals the beginning of the request before it. */
function stableShare({ requests }: Outcome): number {
  const shares = requests.slice(1).map((request, at) => {
    const text = canonical(request.body)
    return commonPrefix(text, canonical((requests[at] as ModelRequest).body)) / text.length
  })
  return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length)
}

function inputOf({ usage }: ModelRequest): number {
  return usage.input + usage.cacheRead + usage.cacheWrite
}

function amount(tokens: number): string {
  return Math.round(tokens).toLocaleString("en")
}

function usd(millionths: number): string {
  return `$${(millionths / 1e6).toFixed(3)}`
}

function describe(request: ModelRequest): string {
  const input = inputOf(request)
  return `${(input / 1000).toFixed(1)}k tokens in, ${percent(request.usage.cacheRead / input)} of it cached`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`
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
