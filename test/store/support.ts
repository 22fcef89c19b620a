// Shared by the tests of the store: temporary folders, records, and child processes whose output can be awaited.
import { Database } from "bun:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Fold } from "../../src/fold/fold.ts"
import type { Store } from "../../src/store/open.ts"
import { openStore } from "../../src/store/open.ts"
import type { Turn } from "../../src/store/writes.ts"

export const root = join(import.meta.dir, "../..")
export const fixtures = join(import.meta.dir, "fixtures")
/** OpenCode's binary, which can run scripts on its embedded Bun. */
export const opencode = join(root, "node_modules/.bin/opencode")

/** Whether the Node on PATH has SQLite, as those from 22.16 on do. */
export const nodeHasSqlite =
  Bun.spawnSync([
    "node",
    "-e",
    `process.exit("setReturnArrays" in (process.getBuiltinModule?.("node:sqlite")?.StatementSync.prototype ?? {}) ? 0 : 1)`,
  ]).exitCode === 0

/** A new folder, removed when disposed: `using folder = temporaryFolder()`. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "hud-test-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export function turnOf(over: Partial<Turn> = {}): Turn {
  return {
    sessionID: "ses_1",
    startedAt: 1,
    endedAt: 2_000,
    calls: 3,
    output: 40,
    providerID: "anthropic",
    modelID: "claude",
    recalls: 2,
    tokens: 500,
    cost: 300,
    costWithout: 450,
    usd: 0.25,
    ...over,
  }
}

/** The recall id of `foldOf(number)`. */
export const recallIDOf = (number: number) => `r${String(number).padStart(7, "0")}`

/** Folds of a higher number were folded later. */
export function foldOf(number: number, over: Partial<Fold> = {}): Fold {
  return {
    id: recallIDOf(number),
    partID: `prt_${number}`,
    messageID: `msg_${number}`,
    hash: "0f1e2d3c",
    kind: "output",
    step: number,
    text: `read src/db.ts, ${number} lines`,
    what: "read src/db.ts",
    reason: "pays",
    because: "pays for itself within 4 calls",
    cutBecause: "",
    call: number,
    tokens: 1200,
    textTokens: 60.5,
    ...over,
  }
}

/** A store that collects its warnings, closed when disposed. */
export async function openAt(path: string, queue: { maxWrites?: number; delayMs?: number } = {}) {
  const warnings: string[] = []
  const store: Store = await openStore({ path, onWarning: (message) => warnings.push(message), ...queue })
  return { store, warnings, [Symbol.asyncDispose]: () => store.close() }
}

export const anchors = [{ after: "msg_1", text: "<hud>kept</hud>" }]

/** A store file with anchors and 300 turns of one session. */
export async function seed(path: string): Promise<void> {
  await using opened = await openAt(path)
  opened.store.saveAnchors("ses_1", anchors)
  for (let turn = 1; turn <= 300; turn++) opened.store.saveTurn(turnOf({ startedAt: turn }))
}

export const countTurns = (path: string) => countIn(path, "turn")
export const countFolds = (path: string) => countIn(path, "fold")

function countIn(path: string, table: string): number {
  const db = new Database(path, { readonly: true })
  try {
    return db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0
  } finally {
    db.close()
  }
}

export async function until(claim: () => boolean | Promise<boolean>, deadlineMs = 60_000): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!(await claim())) {
    if (performance.now() > end) throw new Error(`not so within ${deadlineMs} ms: ${claim}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export type Child = {
  /** resolves when the child has printed this line; rejects if it ends before */
  printed(line: string): Promise<void>
  /** closes stdin, which tells a fixture to finish, and returns the exit code and the output */
  finish(): Promise<{ code: number; stdout: string; stderr: string }>
  [Symbol.dispose](): void
}

export function spawnChild(command: string[], env: Record<string, string> = {}): Child {
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  })
  let stdout = ""
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) stdout += decoder.decode(chunk, { stream: true })
  })()
  const stderr = new Response(child.stderr).text()
  return {
    async printed(line) {
      await until(() => stdout.split("\n").includes(line) || child.exitCode !== null)
      if (!stdout.split("\n").includes(line)) throw new Error(`ended without "${line}": ${stdout}${await stderr}`)
    },
    async finish() {
      await child.stdin.end()
      const code = await child.exited
      await ended
      return { code, stdout, stderr: await stderr }
    },
    [Symbol.dispose]: () => child.kill(9),
  }
}

export const runFixture = (name: string, ...args: string[]) =>
  spawnChild([process.execPath, join(fixtures, name), ...args])
