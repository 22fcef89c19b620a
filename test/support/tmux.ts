// A program in a terminal of its own, by tmux: what is on its screen, and keys for it. Each terminal has a tmux server of
// its own, so that ending it ends nothing else.

import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Generous: OpenCode draws within seconds, on a slow machine under load within half a minute. */
const PATIENCE_MS = 120_000
const LOOK_EVERY_MS = 200
const ENDED_WITHIN_MS = 20_000

export type Wanted = string | RegExp | ((screen: string) => boolean)

export type Terminal = {
  /** Of the program's process. */
  pid: number
  /** The screen as text, without the spaces at the lines' ends. */
  text(): string
  /** The screen with its colours, as escape sequences. */
  colours(): string
  /** Types text as it is. */
  type(text: string): Promise<void>
  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-p`, `Down`. */
  press(...keys: string[]): void
  /** Presses and releases the left button, counted from 0. */
  click(column: number, row: number): void
  resize(columns: number, rows: number): void
  /** The screen once it holds all of these; rejects past the deadline with what it held instead. */
  until(...wanted: Wanted[]): Promise<string>
  /** The screen once it holds none of these. */
  without(...unwanted: Wanted[]): Promise<string>
  close(): void
}

export type TerminalOptions = {
  /** the program and its arguments */
  command: readonly string[]
  /** the program's whole environment */
  env: Readonly<Record<string, string>>
  directory: string
  columns: number
  rows: number
}

/** Where there has to be one, its absence is a failure of every test that needs it, and no reason to skip them. */
const isWanted = process.env.HUDFOLD_REQUIRE_TMUX === "1"

/** Whether tests in a terminal are to be run, and what their names say when they are not. */
export function needsTmux(): { run: boolean; named(name: string): string } {
  const run = isWanted || hasTmux()
  return { run, named: (name) => (run ? name : `${name} (skipped: tmux is not installed)`) }
}

export function hasTmux(): boolean {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Throws when tmux cannot be started. */
export function openTerminal({ command, env, directory, columns, rows }: TerminalOptions): Terminal {
  const folder = mkdtempSync(join(tmpdir(), "hud-tmux-"))
  // not the user's tmux.conf
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    })
  let program: number | undefined
  const close = () => {
    process.off("exit", close)
    try {
      tmux("kill-server")
    } catch {
      // it ended with its last program
    }
    // OpenCode goes on writing for a moment, into folders that the caller is about to remove
    const deadline = Date.now() + ENDED_WITHIN_MS
    while (program !== undefined && isAtWork(program) && Date.now() < deadline) Bun.sleepSync(50)
    rmSync(folder, { recursive: true, force: true })
  }
  // its server is a daemon, which a test that is stopped would leave behind
  process.once("exit", close)
  const variables = { ...env, PWD: directory, TERM: "xterm-256color", COLORTERM: "truecolor" }
  const line = ["env", "-i", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), ...command]
  const size = ["-x", String(columns), "-y", String(rows)]
  tmux("new-session", "-d", ...size, "-c", directory, line.map(quoted).join(" "))
  tmux("set-option", "-g", "remain-on-exit", "on")
  const pid = Number(tmux("display-message", "-p", "#{pane_pid}"))
  program = pid

  const text = () => tmux("capture-pane", "-p").replace(/ +$/gm, "")
  const press = (...keys: string[]) => void tmux("send-keys", ...keys)
  const look = async (what: string, isSo: (screen: string) => boolean) => {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const screen = text()
      if (isSo(screen)) return screen
      if (Date.now() > deadline) throw new Error(`not within ${PATIENCE_MS} ms on the screen: ${what}\n${screen}`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
  const holds = (screen: string, wanted: Wanted) => {
    if (typeof wanted === "function") return wanted(screen)
    return typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen)
  }

  return {
    text,
    press,
    pid,
    colours: () => tmux("capture-pane", "-e", "-N", "-p"),
    type: async (words) => {
      tmux("send-keys", "-l", words)
      await look(words, (screen) => screen.includes(words))
    },
    click: (column, row) => {
      const at = `${column + 1};${row + 1}`
      // as a terminal reports it to a program that has asked for it
      tmux("send-keys", "-l", `\u001b[<0;${at}M\u001b[<0;${at}m`)
    },
    resize: (toColumns, toRows) => void tmux("resize-window", "-x", String(toColumns), "-y", String(toRows)),
    until: (...wanted) => look(wanted.join(" and "), (screen) => wanted.every((one) => holds(screen, one))),
    without: (...unwanted) =>
      look(`none of ${unwanted.join(", ")}`, (screen) => !unwanted.some((one) => holds(screen, one))),
    close,
  }
}

/** A process that has ended is listed until its parent asks for it, which in a container may be never. */
function isAtWork(pid: number): boolean {
  try {
    const state = execFileSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).trim()
    return state !== "" && !state.startsWith("Z")
  } catch {
    return false
  }
}

/** For the shell that tmux starts the command with. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
