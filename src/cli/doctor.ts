// `hudfold doctor`: checks an installation and prints one line per check, with a fix for what is wrong. The checks are in
// `src/doctor/`; here is their output.

import { resolve } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { bundleOf } from "../doctor/bundle.ts"
import { type Examination, examine, type Findings } from "../doctor/checks.ts"
import { type CheckLevel, type CheckResult, LEVELS, worstLevel } from "../doctor/result.ts"
import { homeFolder } from "../system/data-folder.ts"
import { plural } from "../text/format.ts"
import { defineCommand, JSON_ARGUMENT, readFolder } from "./command.ts"
import { startProgress } from "./progress.ts"
import { coloured, escapedJson, escapedLine, print, untilInterrupted, wrapped } from "./terminal.ts"
import { checkPath, writeTo } from "./written-file.ts"

export const doctor = defineCommand({
  description: "Check everything the plugin needs and say how to fix what is wrong",
  args: {
    json: JSON_ARGUMENT,
    test: { type: "boolean", description: "Also test the model, which takes some seconds" },
    bundle: {
      type: "string",
      valueHint: "FILE",
      description: "Write a file for a bug report, without secrets, HUD texts and working folders",
    },
    dir: { type: "string", valueHint: "FOLDER", description: "The project to check, by default the working directory" },
  },
  async run({ json = false, test = false, ...args }) {
    const directory = readFolder(args.dir)
    const bundle = args.bundle === undefined ? undefined : resolve(args.bundle)
    if (bundle !== undefined) await checkPath("--bundle", bundle)
    return untilInterrupted(async (signal) => {
      const findings: Findings = {}
      const checks: CheckResult[] = []
      const hashing = startProgress(process.stderr, "model: checking", { onScreenFromMs: 0 })
      const examination: Examination = {
        env: process.env,
        home: homeFolder(),
        directory,
        version: manifest.version,
        needs: manifest.engines.opencode,
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
      const level = worstLevel(checks)
      print(json ? escapedJson({ hudfold: manifest.version, checks, level }) : `\n${summary(checks)}`)
      if (bundle !== undefined) {
        const content = await bundleOf(checks, findings, examination)
        await writeTo("--bundle", bundle, `${JSON.stringify(content, null, 2)}\n`)
        const output = json ? process.stderr : process.stdout
        output.write(`\n${escapedLine(bundle)} is for a bug report. Read it before you send it to anyone.\n`)
      }
      return LEVELS.indexOf(level)
    }, "nothing was changed")
  },
})

const COLOURS: Record<CheckLevel, number> = { ok: 32, warn: 33, fail: 31 }

function lineOf({ name, level, found, fix }: CheckResult): string {
  const line = `${coloured(level.padEnd(4), COLOURS[level])}  ${name.padEnd(9)}  ${wrapped(escapedLine(found), 17)}`
  return fix === undefined ? line : `${line}\n${" ".repeat(17)}fix: ${wrapped(escapedLine(fix), 22)}`
}

function summary(checks: readonly CheckResult[]): string {
  const count = (level: CheckLevel) => checks.filter((check) => check.level === level).length
  const [warnings, failures] = [count("warn"), count("fail")]
  if (warnings + failures === 0) return "everything is ok"
  const counts = [failures && plural(failures, "failure"), warnings && plural(warnings, "warning"), `${count("ok")} ok`]
  return counts.filter(Boolean).join(", ")
}
