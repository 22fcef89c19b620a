// The sidecar process: one engine behind the protocol on stdin and stdout. It exits when stdin ends, so that it never
// outlives the plugin that started it, however that ended.

import {
  NOTIFICATIONS,
  type Params,
  PROTOCOL,
  REQUESTS,
  type RequestName,
  type Result,
} from "../src/engine/wire/messages.ts"
import { openPeer, ReplyError } from "../src/engine/wire/peer.ts"
import { errorMessage } from "../src/system/values.ts"
import { Engine } from "./engine.ts"
import { EngineError } from "./errors.ts"
import { claimStdout, log } from "./output.ts"

/** How long the engine may take to close before the process is killed. */
const SHUTDOWN_MS = 1000

/** The JSON-RPC error code of errors with the protocol's own code in `data`. */
const FAILED = -32001

const channel = claimStdout()
const engine = new Engine(log)
const ending = new AbortController()

openPeer(process.stdin, channel, {
  answers: {
    "engine/hello": checked("engine/hello", async () => ({ protocol: PROTOCOL })),
    "engine/load": checked("engine/load", (load, signal) => engine.load(load, signal)),
    "digest/write": checked("digest/write", (request, signal) => engine.write(request, signal)),
  },
  onNotice(method, params) {
    const parsed = NOTIFICATIONS["engine/pause"].safeParse(params)
    if (method !== "engine/pause" || !parsed.success) return false
    engine.pause(parsed.data.paused)
    return true
  },
  onNoise: (text) => log(`not expected: ${text}`),
  onClose: shutDown,
})
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => shutDown())
process.on("uncaughtException", (error) => log("uncaught:", error))
process.on("unhandledRejection", (error) => log("unhandled:", error))

/** Aborts running requests, gives the engine a moment to close, and exits with 0. Idempotent. */
function shutDown(): void {
  if (ending.signal.aborted) return
  ending.abort(new Error("the sidecar is ending"))
  // not process.exit, which runs native destructors, which may be what hangs
  setTimeout(() => process.kill(process.pid, "SIGKILL"), SHUTDOWN_MS)
  void engine.close().finally(() => process.exit(0))
}

/** Answers a request whose parameters have the wire's shape. */
function checked<Name extends RequestName>(
  name: Name,
  work: (params: Params<Name>, signal: AbortSignal) => Promise<Result<Name>>,
) {
  return async (params: unknown, cancelled: AbortSignal): Promise<Result<Name>> => {
    const parsed = REQUESTS[name].params.safeParse(params)
    try {
      if (!parsed.success) throw new EngineError("BAD_REQUEST", `${name}: the request does not match the protocol`)
      return await work(parsed.data as Params<Name>, AbortSignal.any([cancelled, ending.signal]))
    } catch (error) {
      const code = error instanceof EngineError ? error.code : "ENGINE_FAILED"
      throw new ReplyError(FAILED, errorMessage(error), { code })
    }
  }
}
