// Digests from a server with OpenAI's chat completions: Ollama, LM Studio, llama-server. An unreachable server is
// degraded and tried again; one that refuses is off, with a message that says what to do.

import type { Logger } from "../../engine/sidecar.ts"
import { readAnswer } from "../../engine/wire/answer.ts"
import type { WriteRequest } from "../../engine/wire/messages.ts"
import { type Backend, BackendError, type BackendState, type OpenaiOptions, type Written } from "./backend.ts"
import {
  completionBody,
  errorDetail,
  isRefusalOfForm,
  LAST_FORM,
  readCompletion,
  readFirstModel,
} from "./completions.ts"
import { type Address, exchange, type HttpReply, readAddress } from "./http.ts"

/** With the instruction and the answer this fits Ollama's default context of 4,096 tokens, which it cuts to silently. */
const MAX_DOCUMENT_TOKENS = 2000
const MODELS_TIMEOUT_MS = 5000

type OpenaiBackend = Backend & { findModel(signal: AbortSignal): Promise<string> }

/** Never throws: an unusable URL leads to the state `off`. Says where outputs go if that is not this machine. */
export function createOpenai(options: OpenaiOptions, report: Logger = () => {}): OpenaiBackend {
  let state: BackendState = { kind: "idle" }
  let address: Address | undefined
  let model = options.model
  /** how to ask this server for JSON, see `completionBody` */
  let form = 0
  const closing = new AbortController()
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
  }
  try {
    address = readAddress(options.url, options.allowRemote)
    // the option may come from a project's configuration: tell whoever works there where their outputs go
    if (!address.local) report("warn", `digest.openai.allowRemote: tool outputs are sent to ${address.chat.origin}`)
  } catch (error) {
    state = { kind: "off", reason: (error as Error).message }
  }
  const where = address?.chat.origin ?? "no address"

  async function write(prompt: WriteRequest, signal: AbortSignal): Promise<Written> {
    try {
      signal.throwIfAborted()
      const name = await findModel(signal)
      return { structured: readAnswer(readCompletion(await ask(name, prompt, signal)), prompt.answer) }
    } catch (error) {
      if (state.kind !== "off") state = stateAfter(error)
      throw error
    }
  }

  function stateAfter(error: unknown): BackendState {
    const isReady = state.kind === "ready"
    if (!(error instanceof BackendError)) return { kind: isReady ? "ready" : "idle" }
    if (error.code === "BAD_ANSWER" && isReady) return state
    return { kind: error.code === "OFF" ? "off" : "degraded", reason: error.message }
  }

  /** The model to use. Asks the server for its list first, unless it has answered and not failed since. */
  async function findModel(signal: AbortSignal): Promise<string> {
    if (state.kind === "off") throw new BackendError("OFF", state.reason)
    if (state.kind !== "ready" || model === undefined) {
      state = { kind: "starting" }
      const reply = await send(undefined, MODELS_TIMEOUT_MS, signal)
      // a server without a list may still have the model that was named
      if (reply.status >= 300 && reply.status !== 404) throw errorOf(reply, false)
      const first = reply.status < 300 ? readFirstModel(reply.text) : null
      model ??= first ?? undefined
      const correct = "correct digest.openai.url, or name one in digest.openai.model"
      if (model === undefined && first === null)
        throw new BackendError("OFF", `${where} does not list its models; ${correct}`)
      if (model === undefined) throw new BackendError("UNAVAILABLE", `${where} has no models; load one there`)
    }
    state = { kind: "ready" }
    return model
  }

  /** The server's answer, as JSON. */
  async function ask(name: string, prompt: WriteRequest, signal: AbortSignal): Promise<string> {
    for (let at = form; ; at++) {
      const reply = await send(completionBody(name, prompt, at), options.timeoutMs, signal)
      if (reply.status >= 200 && reply.status < 300) {
        form = at
        return reply.text
      }
      if (at >= LAST_FORM || !isRefusalOfForm(reply)) throw errorOf(reply, true)
    }
  }

  /** Asks for the models when there is no body. */
  async function send(body: string | undefined, ms: number, signal: AbortSignal): Promise<HttpReply> {
    if (!address) throw new BackendError("OFF", "digest.openai.url is unusable")
    const { local, chat, models } = address
    const url = body === undefined ? models : chat
    const timeout = AbortSignal.timeout(ms)
    try {
      const stop = AbortSignal.any([signal, closing.signal, timeout])
      return await exchange({ url, local, headers, body }, stop)
    } catch (error) {
      signal.throwIfAborted()
      if (closing.signal.aborted) throw new BackendError("OFF", "the backend was closed", { cause: error })
      if (!timeout.aborted) throw error
      // without a body no document is to blame
      const code = body === undefined ? "UNAVAILABLE" : "TIMEOUT"
      throw new BackendError(code, `${where} did not answer within ${ms / 1000} s`, { cause: error })
    }
  }

  function errorOf({ status, text }: HttpReply, hasDocument: boolean): BackendError {
    const answer = `${where} answered ${status}${errorDetail(text)}`
    if (status >= 300 && status < 400)
      return new BackendError("OFF", `${answer}, a redirect, which is not followed; correct digest.openai.url`)
    if (status === 401 || status === 403)
      return new BackendError("OFF", `${answer}; set digest.openai.apiKey to the server's key`)
    if (status === 404)
      return new BackendError("OFF", `${answer}; load ${model} there and restart OpenCode, or set digest.openai.model`)
    // perhaps because of the document: at 500 the model has crashed, or its memory ran out
    if (status === 500 && hasDocument) return new BackendError("TIMEOUT", answer)
    return new BackendError(status === 408 || status === 429 || status >= 500 ? "UNAVAILABLE" : "BAD_ANSWER", answer)
  }

  return {
    get model() {
      return model ?? "default"
    },
    get state() {
      return state
    },
    sharesProcessor: address?.local ?? false,
    maxDocumentTokens: MAX_DOCUMENT_TOKENS,
    findModel,
    write,
    // the protocol has no way to pause the server
    pause: () => {},
    async close() {
      closing.abort()
      if (state.kind !== "off") state = { kind: "off", reason: "the backend was closed" }
    },
  }
}
