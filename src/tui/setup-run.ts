// Runs the CLI's setup as a child process on OpenCode's own binary, which contains Bun.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { dirname } from "node:path"
import { shippedFile } from "../system/data-folder.ts"
import { AS_BUN, readLines } from "../system/process.ts"
import { errorMessage } from "../system/values.ts"

export type CliRun = ReturnType<typeof runCli>
export type CliResult = Awaited<CliRun["result"]>

/** Longer lines are cut. */
const MAX_LINE_CHARS = 10_000

/** Starts the CLI; `onLine` gets every line it prints. Throws when the CLI is missing from the installation. */
export function runCli(args: readonly string[], onLine: (line: string) => void, cli = findCli()) {
  const child = spawn(process.execPath, [cli, ...args], {
    // In the project's folder Bun would run the preloads of its bunfig.toml and read its .env.
    cwd: dirname(cli),
    env: { ...process.env, ...AS_BUN, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let said: string | undefined
  readLines(child.stdout, MAX_LINE_CHARS, onLine)
  readLines(child.stderr, MAX_LINE_CHARS, (line) => {
    said = line
    onLine(line)
  })
  let stopped = false
  return {
    /** why it failed, if it did; never rejects */
    result: once(child, "close")
      .then(([code]) => (code === 0 ? undefined : (said ?? `setup ended with ${code}`)), errorMessage)
      .then((failure) => ({ failure, interrupted: stopped })),
    /** Stops it cleanly, as Ctrl-C does. Idempotent: a second Ctrl-C would kill it and leave its npm running. */
    stop: () => {
      if (!stopped) child.kill("SIGINT")
      stopped = true
    },
  }
}

const findCli = () => shippedFile("the command-line program", import.meta.url, ["./cli.js", "../cli/main.ts"])
