// The sidecar process: one engine behind the protocol on stdin and stdout. It exits when stdin ends, so that it never
// outlives the plugin that started it, however that ended.

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
  PROTOCOL,
  REQUESTS,
  type RequestName,
  type Result,
} from "../src/engine/wire/messages.ts"
import { errorMessage } from "../src/system/values.ts"
import { Engine } from "./engine.ts"
import { EngineError } from "./errors.ts"
import { claimStdout, LogBudget } from "./output.ts"

const HEARTBEAT_MS = 2000
/** How long the engine may take to close before the process is killed. */
const SHUTDOWN_MS = 1000

/** JSON-RPC error codes: one for errors with the protocol's own code in `data`, and the usual one for cancellations. */
const FAILED = -32001
const CANCELLED = -32800

// zod/mini has no error messages of its own
z.config(en())
const channel = claimStdout()
const connection = createMessageConnection(
  new LineReader(process.stdin, (line) => log("warn", `not a message: ${line}`)),
  new LineWriter(channel),
)
const budget = new LogBudget((level, message) => notify("engine/log", { level, message }))
const engine = new Engine(log)
const ending = new AbortController()
let queue: Promise<unknown> = Promise.resolve()

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
connection.onNotification("engine/pause", (params: unknown) => {
  const parsed = NOTIFICATIONS["engine/pause"].safeParse(params)
  if (parsed.success) engine.pause(parsed.data.paused)
  else log("warn", `engine/pause: ${explain(parsed.error)}`)
})

process.stdin.on("end", () => shutDown())
process.stdin.on("close", () => shutDown())
channel.on("error", () => shutDown())
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => shutDown())
process.on("uncaughtException", (error) => log("error", `uncaught: ${error.stack ?? error}`))
process.on("unhandledRejection", (error) => log("error", `unhandled: ${error instanceof Error ? error.stack : error}`))
connection.listen()

/** Aborts running requests, gives the engine a moment to close, and exits with 0. Idempotent. */
function shutDown(): void {
  if (ending.signal.aborted) return
  ending.abort(new Error("the sidecar is ending"))
  // not process.exit, which runs native destructors, which may be what hangs
  setTimeout(() => process.kill(process.pid, "SIGKILL"), SHUTDOWN_MS)
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

/** Runs requests one at a time: a cancelled one may still be stopping when the next one arrives. */
function inTurn<P, R>(
  work: (params: P, signal: AbortSignal) => Promise<R>,
): (params: P, signal: AbortSignal) => Promise<R> {
  return (params, signal) => {
    const result = queue.then(async () => {
      signal.throwIfAborted()
      const heartbeat = setInterval(
        () => notify("engine/alive", { busy: true, rssBytes: process.memoryUsage.rss() }),
        HEARTBEAT_MS,
      )
      try {
        return await work(params, signal)
      } finally {
        clearInterval(heartbeat)
      }
    })
    queue = result.catch(() => {})
    return result
  }
}

function failure(error: unknown): ResponseError<{ code: string }> {
  const code = error instanceof EngineError ? error.code : "ENGINE_FAILED"
  return new ResponseError(FAILED, errorMessage(error), { code })
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

/** Failures are ignored: they mean that the plugin is gone and this process is about to exit. */
function notify<Name extends NotificationName>(name: Name, notice: Notice<Name>): void {
  connection.sendNotification(name, notice).catch(() => {})
}
