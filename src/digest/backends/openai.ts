// Digests from a server that speaks OpenAI's chat completions: Ollama, LM Studio, llama-server. A server that is not
// there is a degraded state and asked again; one that says no is off, with what to do about it.

import { readAnswer } from "../../engine/wire/answer.ts"
import { type Address, readAddress } from "./address.ts"
import { type Backend, BackendError, type BackendState, type Prompt, type Speed, type Written } from "./backend.ts"
import { completionBody, isRefusalOfForm, LAST_FORM, readCompletion, readFirstModel, saidIn } from "./completions.ts"
import { exchange, type Reply } from "./exchange.ts"
import { withTimings } from "./speed.ts"

/** As `digest.openai` of the options. */
export type OpenaiOptions = {
  url: string
  model?: string | undefined
  apiKey?: string | undefined
  timeoutMs: number
  allowRemote: boolean
}

/** With the instruction and the answer it fits the 4,096 tokens that Ollama gives a model, which cuts without a word. */
const MOST_TOKENS = 2000
const MODELS_TIMEOUT_MS = 5000

/** Never throws: a URL that cannot be used is the state `off`. */
export function createOpenai(options: OpenaiOptions): Backend {
  let state: BackendState = { kind: "idle" }
  let address: Address | undefined
  let model = options.model
  let speed: Speed | undefined
  /** the way of asking for JSON that the server takes */
  let form = 0
  let answers = 0
  /** the server answered, and has not failed since */
  let found = false
  let running: Promise<unknown> = Promise.resolve()
  const closing = new AbortController()
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
  }
  try {
    address = readAddress(options.url, options.allowRemote)
  } catch (error) {
    state = { kind: "off", reason: (error as Error).message }
  }
  const where = address?.chat.origin ?? "no address"

  async function write(prompt: Prompt, signal: AbortSignal): Promise<Written> {
    // one at a time: a server on this machine would only share its speed between two
    const written = running.then(() => writeNow(prompt, signal))
    running = written.catch(() => {})
    return written
  }

  async function writeNow(prompt: Prompt, signal: AbortSignal): Promise<Written> {
    try {
      signal.throwIfAborted()
      if (state.kind === "off") throw new BackendError("OFF", state.reason)
      const name = await find(signal)
      const start = performance.now()
      const { text: json } = await ask(name, prompt, signal)
      const elapsedMs = performance.now() - start
      const { text, timings } = readCompletion(json, elapsedMs)
      // the first answer has the loading of the model in it
      if (answers++ > 0) speed = withTimings(speed, timings)
      const { promptTokens, outputTokens } = timings
      return { ...readAnswer(text, prompt.schema), usage: { promptTokens, outputTokens }, elapsedMs }
    } catch (error) {
      if (state.kind !== "off") state = stateAfter(error)
      throw error
    }
  }

  function stateAfter(error: unknown): BackendState {
    if (!(error instanceof BackendError)) return { kind: found ? "ready" : "idle" }
    if (error.code === "OFF") return { kind: "off", reason: error.message }
    if (error.code === "BAD_ANSWER" && found) return { kind: "ready" }
    found = false
    return { kind: "degraded", reason: error.message }
  }

  /** The model to use. Asks for the list when the server has not been heard of yet, or not since it failed. */
  async function find(signal: AbortSignal): Promise<string> {
    if (!found || model === undefined) {
      state = { kind: "starting" }
      const reply = await send("GET", undefined, MODELS_TIMEOUT_MS, signal)
      // a server without the list may still have the model that was named
      if (reply.status >= 300 && reply.status !== 404) throw errorOf(reply)
      const first = reply.status < 300 ? readFirstModel(reply.text) : null
      model ??= first ?? undefined
      if (model === undefined)
        throw first === null
          ? new BackendError(
              "OFF",
              `${where} lists no models; correct digest.openai.url, or name one in digest.openai.model`,
            )
          : new BackendError("UNAVAILABLE", `${where} has no model yet; load one there`)
      found = true
    }
    state = { kind: "ready" }
    return model
  }

  async function ask(name: string, prompt: Prompt, signal: AbortSignal): Promise<Reply> {
    for (let at = form; ; at++) {
      const reply = await send("POST", completionBody(name, prompt, at), options.timeoutMs, signal)
      if (reply.status >= 200 && reply.status < 300) {
        form = at
        return reply
      }
      if (at >= LAST_FORM || !isRefusalOfForm(reply)) throw errorOf(reply)
    }
  }

  async function send(
    method: "GET" | "POST",
    body: string | undefined,
    ms: number,
    signal: AbortSignal,
  ): Promise<Reply> {
    if (!address) throw new BackendError("OFF", "digest.openai.url cannot be used")
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), ms)
    timer.unref()
    const { local, chat, models } = address
    const request = {
      url: method === "GET" ? models : chat,
      local,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }
    try {
      return await exchange(request, AbortSignal.any([signal, closing.signal, late.signal]))
    } catch (error) {
      signal.throwIfAborted()
      if (closing.signal.aborted) throw new BackendError("OFF", "the backend was closed", { cause: error })
      if (late.signal.aborted)
        throw new BackendError("TIMEOUT", `${where} gave no answer within ${ms / 1000} s`, { cause: error })
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** What a status that is no success means. */
  function errorOf({ status, text }: Reply): BackendError {
    const said = `${where} answered ${status}${saidIn(text)}`
    if (status >= 300 && status < 400)
      return new BackendError("OFF", `${said}, a redirect, and none is followed; correct digest.openai.url`)
    if (status === 401 || status === 403)
      return new BackendError("OFF", `${said}; give the server's key in digest.openai.apiKey`)
    if (status === 404)
      return new BackendError("OFF", `${said}; load the model ${model} there, or name another in digest.openai.model`)
    return new BackendError(status === 408 || status === 429 || status >= 500 ? "UNAVAILABLE" : "BAD_ANSWER", said)
  }

  return {
    get id() {
      return `openai/${model ?? "default"}`
    },
    get state() {
      return state
    },
    get speed() {
      return speed
    },
    sharesProcessor: address?.local ?? false,
    mostTokens: MOST_TOKENS,
    write,
    // the server's work cannot be held up, nor its memory freed, over this protocol
    pause: () => {},
    unload: async () => {},
    async close() {
      closing.abort()
      if (state.kind !== "off") state = { kind: "off", reason: "the backend was closed" }
      await running
    },
  }
}
