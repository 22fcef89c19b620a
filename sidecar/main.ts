// The sidecar process: the protocol on stdin and stdout, one engine behind it. It ends when stdin does, so that it can
// never outlive the plugin that started it, by whatever way that ended.

import type { CancellationToken } from "vscode-jsonrpc"
import { createMessageConnection, ResponseError } from "vscode-jsonrpc/node"
import * as z from "zod/mini"
import en from "zod/v4/locales/en.js"
import manifest from "../package.json" with { type: "json" }
import { LineReader, LineWriter } from "../src/engine/wire/lines.ts"
import {
  NOTIFICATIONS,
  type Notice,
  type NotificationName,
  type Params,
  REQUESTS,
  type RequestName,
  type Result,
} from "../src/engine/wire/messages.ts"
import { PROTOCOL } from "../src/engine/wire/version.ts"
import { Engine } from "./engine.ts"
import { EngineError, messageOf } from "./errors.ts"
import { LogBudget } from "./log.ts"
import { claimStdout } from "./stdout.ts"

const ALIVE_EVERY_MS = 2000
/** How long the engine may take to wind up before the process ends without it. */
const LEAVE_MS = 1000

/** Codes of JSON-RPC: one for what the protocol's own error data explains, and the customary one for cancelled. */
const FAILED = -32001
const CANCELLED = -32800

// zod/mini comes without words, and "Invalid input" helps nobody
z.config(en())
const channel = claimStdout()
const connection = createMessageConnection(
  new LineReader(process.stdin, (line) => log("warn", `not a message: ${line}`)),
  new LineWriter(channel),
)
const budget = new LogBudget((level, message) => notify("engine/log", { level, message }))
const engine = new Engine({ log, progress })
const ending = new AbortController()
let turn: Promise<unknown> = Promise.resolve()
let lastPercent = -1

answer("engine/hello", async () => ({
  protocol: PROTOCOL,
  version: manifest.version,
  runtime: process.versions.bun ? `bun ${process.versions.bun}` : `node ${process.versions.node}`,
  pid: process.pid,
}))
answer(
  "engine/load",
  inTurn((load, signal) => engine.load(load, signal)),
)
answer(
  "digest/write",
  inTurn((request, signal) => engine.write(request, signal)),
)
answer(
  "engine/unload",
  inTurn(async () => {
    await engine.unload()
    return {}
  }),
)
connection.onNotification("engine/pause", (params: unknown) => {
  const parsed = NOTIFICATIONS["engine/pause"].safeParse(params)
  if (parsed.success) engine.pause(parsed.data.paused)
  else log("warn", `engine/pause: ${explain(parsed.error)}`)
})

process.stdin.on("end", () => leave())
process.stdin.on("close", () => leave())
channel.on("error", () => leave())
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => leave())
process.on("uncaughtException", (error) => log("error", `uncaught: ${error.stack ?? error}`))
process.on("unhandledRejection", (error) => log("error", `unhandled: ${error instanceof Error ? error.stack : error}`))
connection.listen()

/** Aborts what runs, gives the engine a moment to end properly, and exits with 0. Only the first call counts. */
function leave(): void {
  if (ending.signal.aborted) return
  ending.abort(new Error("the sidecar is ending"))
  // from outside: JavaScript's own way out runs native destructors, which may be what hangs
  setTimeout(() => process.kill(process.pid, "SIGKILL"), LEAVE_MS)
  void engine.close().finally(() => process.exit(0))
}

type Work<Name extends RequestName> = (params: Params<Name>, signal: AbortSignal) => Promise<Result<Name>>

function answer<Name extends RequestName>(name: Name, work: Work<Name>): void {
  connection.onRequest(name, async (params: unknown, token?: CancellationToken) => {
    const parsed = REQUESTS[name].params.safeParse(params)
    if (!parsed.success) throw failure(new EngineError("BAD_REQUEST", `${name}: ${explain(parsed.error)}`))
    const cancelled = new AbortController()
    const cancel = () => cancelled.abort(new Error("cancelled"))
    if (token?.isCancellationRequested) cancel()
    const listener = token?.onCancellationRequested(cancel)
    try {
      return await work(parsed.data as Params<Name>, AbortSignal.any([cancelled.signal, ending.signal]))
    } catch (error) {
      throw cancelled.signal.aborted ? new ResponseError(CANCELLED, "cancelled") : failure(error)
    } finally {
      listener?.dispose()
    }
  })
}

/** One at a time: a request that was cancelled may need another moment when the next one comes. */
function inTurn<P, R>(
  work: (params: P, signal: AbortSignal) => Promise<R>,
): (params: P, signal: AbortSignal) => Promise<R> {
  return (params, signal) => {
    const mine = turn.then(async () => {
      signal.throwIfAborted()
      const alive = setInterval(
        () => notify("engine/alive", { busy: true, rssBytes: process.memoryUsage.rss() }),
        ALIVE_EVERY_MS,
      )
      try {
        return await work(params, signal)
      } finally {
        clearInterval(alive)
      }
    })
    turn = mine.catch(() => {})
    return mine
  }
}

function failure(error: unknown): ResponseError<{ code: string }> {
  const code = error instanceof EngineError ? error.code : "ENGINE_FAILED"
  return new ResponseError(FAILED, messageOf(error), { code })
}

function explain(error: z.core.$ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join(".") || "params"}: ${issue.message}`)
    .join("; ")
    .slice(0, 500)
}

function log(level: Notice<"engine/log">["level"], message: string): void {
  budget.log(level, message)
}

/** The engine tells of every tensor; whole per cents are enough. */
function progress(fraction: number): void {
  const percent = Math.floor(fraction * 100)
  if (percent === lastPercent) return
  lastPercent = percent
  notify("load/progress", { fraction: percent / 100 })
}

/** What cannot be sent any more is nobody's concern: the other side is gone, and this one about to be. */
function notify<Name extends NotificationName>(name: Name, notice: Notice<Name>): void {
  connection.sendNotification(name, notice).catch(() => {})
}
