// The overhead of the sidecar over the engine it drives: the same model, threads, prompt and answer lengths in both,
// alternating in one run (sidecar, raw, raw, sidecar). Prints medians, digests per minute, memory, and how soon a cancel takes
// effect. `bun bench/digest.ts [MODEL] [ROUNDS]`, by default with the model of `npm run test-model`.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { TEST_MODEL } from "../scripts/test-model.ts"
import { promptFor } from "../src/digest/prompt.ts"
import { connectEngine } from "../src/engine/client.ts"
import { launchSpec } from "../src/engine/launch.ts"
import { startProcess } from "../src/engine/process.ts"
import { type Params, PROTOCOL } from "../src/engine/wire/messages.ts"
import { generator, median } from "./sessions.ts"

const [modelPath = TEST_MODEL, rounds = "2"] = process.argv.slice(2)
if (!(Number(rounds) > 0)) {
  process.stderr.write("usage: bun bench/digest.ts [MODEL] [ROUNDS]\n")
  process.exit(2)
}
if (!existsSync(modelPath)) {
  process.stderr.write(`no model at ${modelPath}; run: npm run test-model\n`)
  process.exit(1)
}
const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const say = (text: string) => void process.stdout.write(`${text}\n`)
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const THREADS = 1
/** A short document with an answer of a thousand tokens, which is being written three seconds after the request. */
const LONG_ANSWER = {
  text: "words",
  maxTokens: 2_000,
  answer: Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`property_number_${at}`, 60])),
}

const spec = launchSpec("auto", path("sidecar/main.ts"))
if ("reason" in spec) throw new Error(spec.reason)
const sidecar = await startProcess(spec, true, 1_500)
const client = connectEngine(sidecar.stdout, sidecar.stdin, sidecar.note, () => {})
const random = generator(1)
const prompts = Array.from({ length: 2 * Number(rounds) + 2 }, () => promptFor(logOf(random), { budgetTokens: 2000 }))
const instruction = prompts[0]?.instruction ?? ""
await client.request("engine/hello", { protocol: PROTOCOL })
const capabilities = await client.request("engine/load", {
  ...{ modelPath, gpu: "off", contextTokens: 4096, threads: THREADS, memoryBytes: 0, instruction },
})
const raw = spawn(process.execPath, [path("bench/raw-engine.ts"), modelPath, String(THREADS)], {
  stdio: ["pipe", "pipe", "inherit"],
})
const rawLines = createInterface({ input: raw.stdout })[Symbol.asyncIterator]()

say(`${capabilities.model.name}, ${THREADS} thread, loaded in ${seconds(capabilities.loadMs)}`)
const writes: { ms: number; promptTokens: number; evaluatedTokens: number; outputTokens: number }[] = []
const raws: number[] = []
for (let round = 0; round < Number(rounds); round++) {
  const one = await write(2 * round)
  raws.push(await writeRaw(2 * round, one), await writeRaw(2 * round, one))
  const other = await write(2 * round + 1)
  writes.push(one, other)
}
const ms = median(writes.map((one) => one.ms))
const rawMs = median(raws)
const evaluated = median(writes.map((one) => one.evaluatedTokens))
const prompt = median(writes.map((one) => one.promptTokens))
const output = median(writes.map((one) => one.outputTokens))
say(
  `a prompt of ${prompt} tokens, ${prompt - evaluated} of them the instruction's, evaluated once; ${output} tokens out`,
)
say(`  sidecar ${seconds(ms)}, raw engine ${seconds(rawMs)}, ratio ${(ms / rawMs).toFixed(2)}`)
say(`  ${(60_000 / ms).toFixed(1)} digests a minute, ${Math.round((evaluated + output) / (ms / 1000))} tokens/s`)
say(
  `  measured at load: ${Math.round(capabilities.prefillTokensPerSecond)} tokens/s in, ${Math.round(capabilities.decodeTokensPerSecond)} out`,
)
say(`  memory: sidecar ${await megabytes(sidecar.pid)}, raw engine ${await megabytes(raw.pid)}`)
const longPrompt = prompts.at(-1)!
say(`cancelled during prompt evaluation: obeyed within ${await cancelAfter(500, longPrompt)} ms`)
say(`cancelled while it writes: obeyed within ${await cancelAfter(3_000, { ...longPrompt, ...LONG_ANSWER })} ms`)
await sidecar.stop()
raw.stdin.end()

async function write(index: number) {
  const start = performance.now()
  const { usage } = await client.request("digest/write", prompts[index]!)
  return { ms: performance.now() - start, ...usage }
}

/** The raw engine evaluates only what the sidecar had to: the prompt without the instruction. */
async function writeRaw(index: number, { evaluatedTokens, outputTokens }: (typeof writes)[number]): Promise<number> {
  raw.stdin.write(`${JSON.stringify({ text: prompts[index]?.text, promptTokens: evaluatedTokens, outputTokens })}\n`)
  const { value } = await rawLines.next()
  return (JSON.parse(String(value)) as { ms: number }).ms
}

/** The time from the cancel until the engine has stopped and can take the next request. */
async function cancelAfter(afterMs: number, prompt: Params<"digest/write">): Promise<string> {
  const abort = new AbortController()
  let done = false
  const written = client.request("digest/write", prompt, abort.signal).then(
    () => {
      done = true
    },
    () => {},
  )
  await Bun.sleep(afterMs)
  if (done) throw new Error("it was done before it could be cancelled")
  const start = performance.now()
  abort.abort()
  await written
  await client.quiet()
  return (performance.now() - start).toFixed(0)
}

async function megabytes(pid: number | undefined): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
  const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
  return kilobytes === undefined ? "unknown here" : `${Math.round(Number(kilobytes) / 1024)} MB`
}

/** A service's log of about 2,500 tokens. */
function logOf(random: () => number) {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const line = (n: number) => {
    const level = random() < 0.05 ? "ERROR" : "INFO"
    const path = `src/${pick(["auth", "cart", "mail", "user"])}/${pick(["load", "save", "send", "list"])}.ts`
    return `12:${String(n % 60).padStart(2, "0")} ${level} ${path}:${Math.floor(random() * 400)} ${pick(["done", "retry", "timeout", "slow"])}`
  }
  const output = Array.from({ length: 220 }, (_, n) => line(n)).join("\n")
  return { tool: "bash", kind: "command" as const, input: { command: "./run" }, output, failed: false, exit: 0 }
}
