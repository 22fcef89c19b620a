// `hudfold setup` end to end: the real installer, the real engine, a tiny model that the test writes, and a local hub.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { placesIn, readInstalled } from "../../src/engine/installed.ts"
import { setModelInUse } from "../../src/setup/models.ts"
import { type Hub, sha256, startHub } from "../setup/hub.ts"
import { spawnChild, temporaryFolder, until } from "../store/support.ts"
import { writeTinyModel } from "../support/gguf.ts"
import { testLarge } from "../support/large.ts"
import { cli, expectRefusal, linkCommands, type Result, source } from "./support.ts"

const shared = temporaryFolder()
const tiny = join(shared.path, "tiny.gguf")
/** A data folder with the engine. */
const installed = join(shared.path, "installed")
const NAME = "owner/repo-GGUF/tiny-Q8_0.gguf"
let bytes: Buffer
let hub: Hub
let folder: ReturnType<typeof temporaryFolder>
let data = ""

beforeAll(async () => {
  await writeTinyModel(tiny)
  bytes = readFileSync(tiny)
  mkdirSync(join(shared.path, "bin"))
  linkCommands(join(shared.path, "bin"), { bun: process.execPath })
  // fetches the engine once; the other installations take it from Bun's cache
  data = installed
  expect(await setup("--no-model")).toMatchObject({ code: 0, stderr: "" })
}, 120_000)
afterAll(() => shared[Symbol.dispose](), 60_000)

beforeEach(async () => {
  hub = await startHub({ [NAME]: bytes })
  folder = temporaryFolder()
  data = join(folder.path, "data")
})
afterEach(async () => {
  await hub.close()
  folder[Symbol.dispose]()
}, 30_000)

function env(): Record<string, string> {
  return {
    PATH: join(shared.path, "bin"),
    HOME: join(shared.path, "home"),
    HUDFOLD_DATA: data,
    HF_ENDPOINT: hub?.url ?? "http://127.0.0.1:9",
    HF_TOKEN: "",
  }
}

const setup = (...args: string[]): Promise<Result> => cli(["setup", ...args], env())
/** What is in the data folder, apart from the empty file of the lock. */
const inData = (): string[] =>
  (existsSync(data) ? readdirSync(data) : []).filter((name) => name !== "setup.lock").sort()
const places = () => placesIn(data)

test("the first run installs, fetches and tests, the second has nothing to do, and uninstall removes everything", async () => {
  const first = await setup("--model", "hf:owner/repo-GGUF:Q8_0")
  expect([first.code, first.stderr]).toEqual([0, ""])
  for (const says of [
    /^machine: linux|^machine: darwin/m,
    /^engine: node-llama-cpp 3\.21\.1 with \S+ \(.*about \d+ MB to fetch, \d+ MB on disk/m,
    /^engine: installing with bun$/m,
    /^model: hf:\S+ 100% of \d+ kB$/m,
    /^it runs on .*, loads in [\d.]+ s, reads \d+ and writes [\d.]+ tokens\/s$/m,
    /^\d+ tokens read and \d+ written in [\d.]+ s: /m,
    /^it fits this machine: about \d s for a tool output of 2000 tokens$/m,
    /^model: hf:\S+ is now in use; OpenCode loads it at its next start$/m,
  ]) {
    expect(first.stdout).toMatch(says)
  }
  expect(inData()).toEqual(["model.json", "models", "sidecar"])
  const path = join(places().models, NAME)
  const record = { name: `hf:${NAME}`, path, sizeBytes: bytes.length, sha256: sha256(bytes) }
  expect(JSON.parse(readFileSync(places().modelRecord, "utf8"))).toEqual({ ...record, stamp: expect.any(String) })

  const second = await setup()
  expect(second).toMatchObject({ code: 0, stderr: "" })
  expect(second.stdout).toContain("already installed; nothing was changed")
  expect(second.stdout).not.toContain("installing")

  const again = await setup("--test", "--json")
  expect(again.code).toBe(0)
  expect(again.stderr).toContain("it fits this machine")
  expect(JSON.parse(again.stdout)).toMatchObject({
    engine: "present",
    model: record,
    trial: { fits: true, capabilities: { gpu: "off" } },
  })

  const would = await setup("--uninstall", "--dry-run")
  const leftovers = ["sidecar", `models/${NAME}`, "model.json"]
  expect(would.stdout).toMatch(new RegExp(`^${leftovers.map((one) => `would remove \\S+/${one}\n`).join("")}$`))
  expect((await setup("--uninstall", "--keep-models")).code).toBe(0)
  expect(inData()).toEqual(["model.json", "models"])
  writeFileSync(join(data, "sidecar.lease"), "")
  const gone = await setup("--uninstall")
  expect(gone.code).toBe(0)
  expect(gone.stdout).toContain("removed; from OpenCode's next start on, digests are made without a model")
  expect(existsSync(data)).toBe(false)
  expect((await setup("--uninstall")).stdout).toBe(`nothing that setup installs is in ${data}\n`)
}, 120_000)

test("a dry run shows what would be done, with sizes and licence, and changes nothing", async () => {
  const { code, stdout } = await setup("--dry-run")
  expect(code).toBe(0)
  expect(stdout).toMatch(/about \d+ MB to fetch, \d+ MB on disk, in \S+\/data\/sidecar$/m)
  expect(stdout).toMatch(/^model: \S+, \d+ MB, licence \S.*, from http\S+\.gguf, in \S+\.gguf$/m)
  expect(stdout).toMatch(/^(?:warning: )?memory: about 474 MB while it works, [\d.]+ [GM]B free/m)
  expect(stdout).toMatch(/^As measured, a small model's digests hold no more of what agents need; without one, /m)
  expect(stdout).toContain("nothing was changed (--dry-run)")
  expect(existsSync(data)).toBe(false)
})

test("uninstall keeps a model that setup did not install", async () => {
  const own = join(places().models, "mine.gguf")
  mkdirSync(places().models, { recursive: true })
  writeFileSync(own, bytes)
  expect((await cli(["model", "use", own], env())).code).toBe(0)
  expect((await setup("--uninstall")).stdout).not.toContain(own)
  expect(readdirSync(data, { recursive: true, encoding: "utf8" }).sort()).toEqual(["models", "models/mine.gguf"])
})

test("uninstall with --json prints only JSON on stdout", async () => {
  mkdirSync(places().sidecar, { recursive: true })
  const found = [places().sidecar]
  const would = await setup("--uninstall", "--dry-run", "--json")
  expect(JSON.parse(would.stdout)).toEqual({ found, removed: false })
  expect(would.stderr).toStartWith("would remove ")
  expect(JSON.parse((await setup("--uninstall", "--json")).stdout)).toEqual({ found, removed: true })
  expect(JSON.parse((await setup("--uninstall", "--json")).stdout)).toEqual({ found: [], removed: false })
})

test("Ctrl-C during a download keeps what was fetched, and the next run resumes it", async () => {
  data = installed
  hub.faults.halfway = new Promise(() => {})
  const part = () => readdirSync(data, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(".part"))
  const args = ["--model", `hf:${NAME}`]
  const child = Bun.spawn([process.execPath, source, "setup", ...args], {
    env: { ...process.env, ...env(), NO_COLOR: "1" },
    stdout: "ignore",
    stderr: "pipe",
  })
  try {
    const kept = () => (existsSync(data) ? part() : undefined)
    await until(() => kept() !== undefined && readFileSync(join(data, kept() ?? "")).length > 200_000, 60_000)
    child.kill("SIGINT")
    expect(await child.exited).toBe(130)
    expect(await new Response(child.stderr).text()).toBe("hudfold: interrupted; run it again to continue\n")
  } finally {
    child.kill("SIGKILL")
  }
  const keptBytes = readFileSync(join(data, part() ?? "")).length
  expect(inData()).toEqual(["models", "sidecar"])
  delete hub.faults.halfway
  expect((await setup(...args)).code).toBe(0)
  expect(hub.asked.at(-1)?.range).toBe(`bytes=${keptBytes}-`)
  rmSync(places().models, { recursive: true })
}, 120_000)

test("killed during installation, it leaves nothing that blocks the next run", async () => {
  const child = spawnChild([process.execPath, source, "setup", "--no-model"], env())
  await until(() => inData().some((name) => name.startsWith("sidecar.new-")), 30_000)
  child[Symbol.dispose]()
  await child.finish()
  const { code, stdout } = await setup("--no-model")
  expect(code).toBe(0)
  expect(stdout).toMatch(/^engine: installed in/m)
  // the orphaned installer of the first run may have continued in its own folder for a while
  await until(() => {
    for (const name of inData()) {
      if (name.startsWith("sidecar.new-")) rmSync(join(data, name), { recursive: true, force: true, maxRetries: 9 })
    }
    return inData().length === 1
  })
  expect(inData()).toEqual(["sidecar"])
}, 120_000)

testLarge(
  "two at the same time both succeed, and one of them installs",
  async () => {
    const results = await Promise.all([setup("--no-model"), setup("--no-model")])
    expect(results.map(({ code }) => code)).toEqual([0, 0])
    expect(results.filter(({ stdout }) => stdout.includes("engine: installing"))).toHaveLength(1)
    // the other one waited for it, or started after it was done
    const other = results.find(({ stdout }) => !stdout.includes("engine: installing"))
    expect(other?.stdout).toMatch(/another setup is running|already installed/)
    expect(inData()).toEqual(["sidecar"])
  },
  120_000,
)

test("a model that llama.cpp rejects is reported and not used", async () => {
  data = installed
  const broken = join(folder.path, "broken.gguf")
  await writeTinyModel(broken, { fault: "truncated" })
  const { code, stderr } = await setup("--model", broken)
  expect(code).toBe(2)
  expect(stderr).toMatch(/^hudfold: the trial of broken failed: [^\n]+\n$/)
  expect((await readInstalled(places())).model?.name).not.toBe("broken")
}, 60_000)

test("a missing model in use is reported, and another one replaces it", async () => {
  const lost = join(folder.path, "lost.gguf")
  writeFileSync(lost, bytes)
  expect((await cli(["model", "use", lost], env())).code).toBe(0)
  rmSync(lost)
  const { stdout } = await setup("--dry-run")
  expect(stdout).toContain(`warning: the model in use, lost, is no longer at ${lost}`)
})

test.skipIf(process.platform !== "linux")(
  "a model in use that cannot be read is reported, and another one replaces it (skipped without Linux)",
  async () => {
    // a file whose reading fails, for root too
    const path = "/proc/self/mem"
    setModelInUse(places(), { name: "broken", path, sizeBytes: 0, sha256: "" })
    const { code, stdout, stderr } = await setup("--dry-run")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("warning: the model in use, broken, is no longer at /proc/self/mem, cannot be read, or")
  },
)

describe("without a network, one line says what could not be reached and what to do:", () => {
  test("the package registry", async () => {
    const { code, stderr } = await cli(["setup", "--no-model"], {
      ...env(),
      HOME: join(folder.path, "home"),
      npm_config_registry: "http://127.0.0.1:9/",
    })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^hudfold: the package registry could not be reached; check the network[^\n]+ \(bun: [^\n]+\)\n$/,
    )
    expect(inData()).toEqual([])
  }, 30_000)

  test("the hub, before anything is installed", async () => {
    const { code, stderr } = await cli(["setup"], { ...env(), HF_ENDPOINT: "http://127.0.0.1:9" })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^hudfold: http:\/\/127\.0\.0\.1:9 could not be reached \(\w+\); check the network. Run the command again to resume, or fetch http\S+ by other means and run: hudfold setup --model \/path\/to\/\S+\.gguf\n$/,
    )
    expect(inData()).toEqual([])
  })

  test("the hub, or the proxy in between", async () => {
    const { stderr } = await cli(["setup"], {
      ...env(),
      HF_ENDPOINT: "https://hub.invalid",
      HTTPS_PROXY: "http://127.0.0.1:9",
    })
    expect(stderr).toMatch(/hub\.invalid could not be reached \(\w+\); .* HTTPS_PROXY is set: it may be the proxy/)
  })

  test("the hub, of which a repository's files were wanted", async () => {
    const { code, stderr } = await cli(["setup", "--model", "hf:foo/bar:Q4"], {
      ...env(),
      HF_ENDPOINT: "http://127.0.0.1:9",
    })
    expect(code).toBe(2)
    expect(stderr).toContain(
      "check the network. Run the command again to resume, or fetch http://127.0.0.1:9/foo/bar/resolve/main/FILE.gguf by other means and run: hudfold setup --model /path/to/FILE.gguf\n",
    )
  })
})

test("an HF_ENDPOINT with a password, which Node does not accept, is refused and not quoted", async () => {
  for (const HF_ENDPOINT of ["http://me:hunter2secret@127.0.0.1:9", "me:hunter2secret@mirror.example"]) {
    const { code, stdout, stderr } = await cli(["setup"], { ...env(), HF_ENDPOINT })
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toStartWith("hudfold: HF_ENDPOINT must be an address such as https://huggingface.co, without")
    expect(stderr).not.toContain("hunter2secret")
  }
})

describe("a mistake is one line and exit code 2:", () => {
  const rows: { args: string[]; says: string }[] = [
    { args: ["--gpu", "amd"], says: '--gpu must be one of auto, off, cuda, vulkan, metal, got "amd"' },
    { args: ["--keep-models"], says: "--keep-models can only be used with --uninstall" },
    { args: ["--uninstall", "--model", "smollm2-135m"], says: "--model cannot be combined with --uninstall" },
    { args: ["--uninstall", "--no-model"], says: "--no-model cannot be combined with --uninstall" },
    { args: ["--uninstall", "--gpu", "off"], says: "--gpu cannot be combined with --uninstall" },
    { args: ["--uninstall", "--test"], says: "--test cannot be combined with --uninstall" },
    { args: ["--model", "x", "--no-model"], says: "--model and --no-model cannot be combined" },
    { args: ["--model", "nonesuch"], says: 'no model is called "nonesuch"' },
    { args: ["--model", "/no/such.gguf"], says: "expected a GGUF file of version 2 or 3, got no such file" },
    { args: ["--model", source], says: "/main.ts is not a model: expected a GGUF file of version 2 or 3" },
  ]
  for (const { args, says } of rows) {
    test(args.join(" "), async () => {
      expectRefusal(await setup(...args), says)
      expect(existsSync(data)).toBe(false)
    })
  }
})
