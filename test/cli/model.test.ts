// `hudfold model`: listing, fetching from a local hub, choosing and removing.
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { placesIn, readInstalled } from "../../src/engine/installed.ts"
import { MODELS } from "../../src/setup/models.ts"
import { type Hub, modelBytes, sha256, startHub } from "../setup/hub.ts"
import { root, temporaryFolder, until } from "../store/support.ts"
import { hasTmux, openTerminal } from "../support/tmux.ts"
import { bundleInto, cli, expectRefusal, type Result, source } from "./support.ts"

const NAME = "owner/repo/some-Q8_0.gguf"
const URI = `hf:${NAME}`
const NO_ENGINE = "the engine, which runs it, is not installed; to install it: hudfold setup\n"
const bytes = modelBytes(300_000)
let hub: Hub
let folder: ReturnType<typeof temporaryFolder>
let data: string

beforeEach(async () => {
  const [first] = MODELS
  hub = await startHub({ [NAME]: bytes, [`${first?.repository}/${first?.file}`]: modelBytes(1000) })
  folder = temporaryFolder()
  data = join(folder.path, "data")
})
afterEach(async () => {
  await hub.close()
  folder[Symbol.dispose]()
})

const model = (...args: string[]): Promise<Result> =>
  cli(["model", ...args], { HUDFOLD_DATA: data, HF_ENDPOINT: hub.url, HF_TOKEN: "" })

type Row = { name: string; inUse: boolean; path?: string; licence?: string; sizeBytes: number; needs?: string }
const rows = async () => JSON.parse((await model("list", "--json")).stdout) as Row[]

test("the list has every model with size, licence and needs, and changes nothing", async () => {
  const { code, stdout, stderr } = await model("list")
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  for (const { name, licence } of MODELS)
    expect(stdout).toMatch(new RegExp(`^  ${name} .*[MG]B .*; needs .*; ${licence.slice(0, 8)}`, "m"))
  expect((await rows()).map((row) => [row.name, row.inUse, row.path])).toEqual(
    MODELS.map(({ name }) => [name, false, undefined]),
  )
  expect(hub.asked).toEqual([])
  expect(existsSync(data)).toBe(false)
})

test("a file in the way of the data folder is named", async () => {
  writeFileSync(data, "")
  const file = join(folder.path, "own.gguf")
  writeFileSync(file, bytes)
  const { code, stderr } = await model("use", file)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^hudfold: E\w+: .*\/data'\n$/) })
})

test.skipIf(!hasTmux())(
  "in a narrow terminal the list is broken at spaces, below its last column (skipped without tmux)",
  async () => {
    const terminal = openTerminal({
      ...{ command: [process.execPath, source, "model", "list"], directory: root, columns: 60, rows: 40 },
      env: { PATH: process.env.PATH ?? "", HUDFOLD_DATA: data },
    })
    try {
      const screen = await terminal.until("any GGUF file")
      const lines = screen.slice(0, screen.indexOf("* in use")).trimEnd().split("\n")
      expect(lines.length).toBeGreaterThan(MODELS.length)
      for (const line of lines) expect(line).toMatch(/^(?: {2}[a-z]\S+ +\d\S* [MG]B {2}| {24})\S/)
      expect(lines.map((line) => line.trim()).join(" ")).toContain(
        "the largest of this list; needs a GPU or Apple silicon; Apache-2.0",
      )
    } finally {
      terminal.close()
    }
  },
)

test("a model is pulled, used, listed, and removed only when another one is in use or by force", async () => {
  const pulled = await model("pull", URI)
  expect([pulled.code, pulled.stderr]).toEqual([0, ""])
  expect(pulled.stdout).toContain(`no model is in use; to change that: hudfold model use ${URI}`)
  const path = join(placesIn(data).models, NAME)
  expect(readFileSync(path).equals(bytes)).toBe(true)
  expect((await rows()).at(-1)).toEqual({ name: URI, sizeBytes: bytes.length, path, inUse: false })

  for (const name of [URI, "some-Q8_0.gguf", path, "hf:owner/repo:q8_0"]) {
    const used = await model("use", name)
    expect([used.code, used.stdout]).toEqual([0, `${URI} is in use (300 kB, ${path})\n${NO_ENGINE}`])
  }
  const record = { name: URI, path, sizeBytes: bytes.length, sha256: sha256(bytes) }
  expect((await readInstalled(placesIn(data))).model).toEqual({ ...record, stamp: expect.any(String) })
  expect((await model("list")).stdout).toMatch(new RegExp(`^\\* ${URI} `, "m"))

  const refused = await model("remove", URI)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `hudfold: ${URI} is in use; use another one first, or add --force to have none\n`,
  ])
  const removed = await model("remove", URI, "--force")
  expect([removed.code, removed.stdout]).toEqual([0, `removed ${URI} (300 kB); no model is in use now\n`])
  expect(readdirSync(data)).toEqual(["setup.lock"])
})

test("a name that several fetched models have removes none of them", async () => {
  const names = ["owner/one/a-Q8_0.gguf", "owner/two/a-Q8_0.gguf", "owner/two/b-Q8_0.gguf"]
  const paths = names.map((name) => join(placesIn(data).models, name))
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
  }
  const [one, two, other] = names.map((name) => `hf:${name}`)
  for (const [text, all] of [
    ["a-Q8_0.gguf", `${one}, ${two}`],
    ["hf:owner/two:Q8_0", `${two}, ${other}`],
  ] as const)
    expect(await model("remove", text)).toEqual({
      code: 2,
      stdout: "",
      stderr: `hudfold: "${text}" may be any of ${all}; name one of them\n`,
    })
  expect(paths.map((path) => existsSync(path))).toEqual([true, true, true])
  expect((await model("remove", two ?? "")).code).toBe(0)
  expect(paths.map((path) => existsSync(path))).toEqual([true, false, true])
})

test("a fetched model whose file is gone is not called the user's own", async () => {
  const gone = join(placesIn(data).models, "gone.gguf")
  mkdirSync(dirname(gone), { recursive: true })
  writeFileSync(gone, bytes)
  await model("use", gone)
  rmSync(gone)
  expect((await model("remove", "gone")).stderr).toContain('no fetched model is called "gone"')
})

test("the user's own file is used in place, listed as in use, and cannot be removed", async () => {
  const own = join(folder.path, "own.gguf")
  writeFileSync(own, bytes)
  expect((await model("use", own)).stdout).toBe(`own is in use (300 kB, ${own})\n${NO_ENGINE}`)
  const { sidecar, engineRecord } = placesIn(data)
  mkdirSync(sidecar)
  writeFileSync(engineRecord, JSON.stringify({ engine: "3.21.1", protocol: 2, variants: [] }))
  expect((await model("use", own)).stdout).toEndWith("\nto test it: hudfold setup --test\n")
  expect((await rows()).at(-1)).toMatchObject({ name: "own", path: own, inUse: true })
  for (const name of [own, "own"]) {
    const refused = await model("remove", name)
    const why = 'is your own file, which is not deleted; to use no model, set the option digest.backend to "extract"'
    expect([refused.code, refused.stderr]).toEqual([2, `hudfold: ${JSON.stringify(name)} ${why}\n`])
  }
  expect(existsSync(own)).toBe(true)
})

test("a listed file other than the pinned one is refused, whatever the hub says", async () => {
  const { code, stderr } = await model("pull", MODELS[0]?.name ?? "")
  expect(code).toBe(2)
  expect(stderr).toContain(`expected ${MODELS[0]?.sizeBytes} bytes, got 1000; nothing was kept`)
  expect((await rows()).every((row) => row.path === undefined)).toBe(true)
})

test("says when the hub gives no checksum", async () => {
  hub.faults.saysNothing = true
  const { code, stdout } = await model("pull", URI)
  expect(code).toBe(0)
  expect(stdout).toContain("the hub gives no checksum for it, so nothing was checked")
})

test("the shipped build on Node resumes a broken connection", async () => {
  const bundle = await bundleInto(folder.path)
  hub.faults.halfway = new Promise(() => {})
  const child = Bun.spawn(["node", bundle, "model", "pull", URI], {
    env: { PATH: process.env.PATH ?? "", HUDFOLD_DATA: data, HF_ENDPOINT: hub.url },
    stdout: "pipe",
    stderr: "pipe",
  })
  try {
    const part = `${join(placesIn(data).models, NAME)}.${sha256(bytes).slice(0, 12)}.part`
    await until(() => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) === bytes.length / 2, 30_000)
    delete hub.faults.halfway
    hub.cut()
    const stdout = await new Response(child.stdout).text()
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""])
    expect(stdout).toMatch(/: the connection to http:\S+ broke \([^)]+\). Trying again$/m)
    expect(readFileSync(join(placesIn(data).models, NAME)).equals(bytes)).toBe(true)
    expect(hub.asked.at(-1)?.range).toBe(`bytes=${bytes.length / 2}-`)
  } finally {
    child.kill("SIGKILL")
  }
}, 60_000)

describe("a mistake is one line and exit code 2:", () => {
  const rows: { args: string[]; says: string }[] = [
    { args: [], says: "no command; expected list, pull, use, remove (see hudfold model --help)" },
    { args: ["drop"], says: 'unknown command "drop"; expected list, pull, use, remove' },
    { args: ["pull"], says: "missing NAME. A name from `hudfold model list`" },
    { args: ["pull", "a", "b"], says: 'unexpected argument "b"; see hudfold model pull --help' },
    { args: ["pull", "nonesuch"], says: 'no model is called "nonesuch"; expected a name of' },
    { args: ["pull", "./x.gguf"], says: "is a file, which needs no fetching; to use it: hudfold model use ./x.gguf" },
    { args: ["pull", "./my x.gguf"], says: "to use it: hudfold model use './my x.gguf'\n" },
    { args: ["pull", "hf:owner/other:Q8_0"], says: "no file of owner/other ends in Q8_0.gguf; it has no .gguf file" },
    { args: ["use", "gemma-3-270m"], says: "has not been fetched; to fetch it: hudfold model pull gemma-3-270m" },
    { args: ["use", "/no/such.gguf"], says: "expected a GGUF file of version 2 or 3, got no such file" },
    { args: ["remove", "gemma-3-270m"], says: 'no fetched model is called "gemma-3-270m"; none has been fetched' },
    { args: ["list", "--all"], says: "Unknown option '--all' (see hudfold model list --help)" },
  ]
  for (const { args, says } of rows) {
    test(args.join(" ") || "nothing", async () => {
      expectRefusal(await model(...args), says)
    })
  }
})

test("a subcommand has its own --help", async () => {
  const { code, stdout } = await model("pull", "--help")
  expect(code).toBe(0)
  expect(stdout).toMatch(/^usage: hudfold model pull .*NAME$/m)
})
