// The CLI's setup as a child process, told line by line. It runs on OpenCode's own binary, which is a Bun.

import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export type Ended = { ok: true } | { ok: false; interrupted: boolean; reason: string }

export type Run = {
  /** how it ended; never rejects */
  ended: Promise<Ended>
  /** Has it stop in order, as Ctrl-C would. Idempotent: a second Ctrl-C would cut it off, and leave its npm running. */
  stop(): void
}

/** Starts the CLI with these arguments; `say` hears its lines. Throws when the CLI is not where it was installed. */
export function runCli(args: readonly string[], say: (line: string) => void, cli = findCli()): Run {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, BUN_BE_BUN: "1", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const complaints: string[] = []
  hear(child.stdout, say)
  hear(child.stderr, (line) => {
    complaints.push(line)
    say(line)
  })
  let stopped = false
  return {
    ended: endOf(child).then(({ code, error }) => {
      if (code === 0) return { ok: true }
      const reason = error?.message ?? complaints.at(-1) ?? `setup ended with ${code}`
      return { ok: false, interrupted: stopped, reason }
    }),
    stop: () => {
      if (!stopped) child.kill("SIGINT")
      stopped = true
    },
  }
}

/** Beside the bundle, or of the sources. */
function findCli(): string {
  const places = ["./cli.js", "../cli/main.ts"].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const path = places.find((place) => existsSync(place))
  if (path === undefined) throw new Error(`the command-line program is not where it was installed: ${places[0]}`)
  return path
}

function hear(stream: NodeJS.ReadableStream | null, say: (line: string) => void): void {
  if (!stream) return
  createInterface({ input: stream }).on("line", (line) => {
    if (line.trim()) say(line)
  })
}

function endOf(child: ChildProcess): Promise<{ code: number | null; error?: Error }> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: null, error }))
    child.once("close", (code) => resolve({ code }))
  })
}
