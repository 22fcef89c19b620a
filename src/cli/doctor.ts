// `hudfold doctor`: what is right and what is wrong with an installation, a line each, with what puts it right. All of
// it is found in `src/doctor/`; here it is shown.
import { resolve } from "node:path"
import { defineCommand } from "citty"
import manifest from "../../package.json" with { type: "json" }
import { bundleOf, HOLDS, LEFT_OUT } from "../doctor/bundle.ts"
import { type Check, exitCodeOf, type Level, worst } from "../doctor/check.ts"
import { type Examination, examine, type Findings } from "../doctor/checks.ts"
import { type Databases, databasesSchema, readDatabases } from "../doctor/databases.ts"
import { homeFolder } from "../system/data-folder.ts"
import { readFolder } from "./arguments.ts"
import { checkFree, writeBundle } from "./bundle-file.ts"
import { untilInterrupted } from "./interrupt.ts"
import { type Progress, startProgress } from "./progress.ts"
import { askOnBun, hasSqlite } from "./runtime.ts"
import { colours, oneLine, print } from "./terminal.ts"

export const doctor = defineCommand({
  meta: { name: "doctor", description: "Look at everything the plugin needs and say what to do about what is wrong" },
  args: {
    json: { type: "boolean", description: "Print JSON for programs" },
    test: { type: "boolean", description: "Try the model out as well, which takes some seconds" },
    bundle: {
      type: "string",
      valueHint: "FILE",
      description: "Write a file for a bug report, without what is private",
    },
    dir: { type: "string", valueHint: "FOLDER", description: "The project to look at, not the working directory" },
    databases: {
      type: "string",
      valueHint: "STORE",
      description: "Print only what SQLite tells, as JSON; the doctor asks itself for it on Bun",
    },
  },
  async run({ args }) {
    if (args.databases !== undefined) {
      print(JSON.stringify(await readDatabases(args.databases, process.env)))
      return 0
    }
    const { json = false, test = false } = args
    const directory = readFolder("--dir", args.dir)
    const bundle = args.bundle === undefined ? undefined : resolve(args.bundle)
    if (bundle !== undefined) await checkFree(bundle)
    const wanted = { json, test, bundle, directory }
    return untilInterrupted((signal) => look(wanted, signal), "nothing was changed")
  },
})

type Wanted = { json: boolean; test: boolean; bundle: string | undefined; directory: string }

async function look({ json, test, bundle, directory }: Wanted, signal: AbortSignal): Promise<number> {
  const findings: Findings = {}
  const checks: Check[] = []
  const hashing = progressOnTerminal("model: checking")
  const examination: Examination = {
    env: process.env,
    home: homeFolder(),
    directory,
    version: manifest.version,
    needs: manifest.engines.opencode,
    databases: (storeFile) => databases(storeFile, signal),
    test,
    signal,
    onHash: hashing.update,
  }
  try {
    for await (const check of examine(examination, findings)) {
      hashing.end()
      checks.push(check)
      if (!json) print(lineOf(check))
    }
  } finally {
    hashing.end()
  }
  const level = worst(checks)
  if (json) print(JSON.stringify({ opencodeHud: manifest.version, checks, level }, null, 2))
  else print(`\n${summary(checks)}`)
  if (bundle !== undefined) {
    await writeBundle(bundle, await bundleOf(checks, findings, examination))
    const output = json ? process.stderr : process.stdout
    output.write(aboutBundle(bundle))
  }
  return exitCodeOf(level)
}

async function databases(storeFile: string, signal: AbortSignal): Promise<Databases | undefined> {
  if (hasSqlite()) return readDatabases(storeFile, process.env)
  const said = await askOnBun(["doctor", "--databases", resolve(storeFile)], signal)
  try {
    return databasesSchema.parse(JSON.parse(said ?? ""))
  } catch {
    return undefined
  }
}

const COLOURS: Record<Level, number> = { ok: 32, warn: 33, fail: 31 }

function lineOf({ name, level, found, fix }: Check): string {
  const mark = level.padEnd(4)
  const shown = colours() ? `\u001b[${COLOURS[level]}m${mark}\u001b[0m` : mark
  const line = `${shown}  ${name.padEnd(9)}  ${oneLine(found)}`
  return fix === undefined ? line : `${line}\n${" ".repeat(17)}fix: ${oneLine(fix)}`
}

function summary(checks: readonly Check[]): string {
  const count = (level: Level) => checks.filter((check) => check.level === level).length
  const [warnings, failures] = [count("warn"), count("fail")]
  if (warnings + failures === 0) return "everything is in order"
  const words = [
    ...(failures ? [`${failures} to put right`] : []),
    ...(warnings ? [`${warnings} to look at`] : []),
    `${count("ok")} in order`,
  ]
  return words.join(", ")
}

function aboutBundle(path: string): string {
  const list = (texts: readonly string[]) => texts.map((text) => `  ${text}\n`).join("")
  const ask = "Look at it before you send it to anybody.\n"
  return `\n${oneLine(path)} holds\n${list(HOLDS)}and leaves out\n${list(LEFT_OUT)}${ask}`
}

/** A line that is drawn anew, and only where somebody sees it. */
function progressOnTerminal(label: string): Progress {
  let progress: Progress | undefined
  return {
    update(done, total) {
      if (!process.stderr.isTTY) return
      progress ??= startProgress(process.stderr, label)
      progress.update(done, total)
    },
    end() {
      progress?.end()
      progress = undefined
    },
  }
}
