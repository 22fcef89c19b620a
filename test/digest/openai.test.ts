import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { join } from "node:path"
import { type Backend, BackendError, type OpenaiOptions } from "../../src/digest/backends/backend.ts"
import { createOpenai } from "../../src/digest/backends/openai.ts"
import { createQueue } from "../../src/digest/queue.ts"
import { opencode, root, spawnChild, temporaryFolder, until } from "../store/support.ts"
import {
  ANSWER,
  ancient,
  type Behaviour,
  completion,
  llamaServer,
  lmStudio,
  modelList,
  ollama,
  reply,
  type Served,
  serve,
} from "./servers.ts"
import { candidateOf, promptOf } from "./support.ts"

const prompt = promptOf("a")
/** of its answer */
const SCHEMA = {
  type: "object",
  properties: { gist: { type: "string", maxLength: 120 }, fact: { type: "string", maxLength: 50 } },
  required: ["gist", "fact"],
  additionalProperties: false,
}
const signal = new AbortController().signal

const open = (server: { url: string }, over: Partial<OpenaiOptions> = {}): Backend =>
  createOpenai({ url: server.url, timeoutMs: 10_000, allowRemote: false, ...over })

/** The error that a write rejects with. */
async function failureOf(backend: Backend): Promise<{ code: string; message: string }> {
  try {
    await backend.write(prompt, signal)
  } catch (error) {
    if (error instanceof BackendError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error("it did not fail")
}

const chats = (server: Served) => server.seen.filter(({ method }) => method === "POST")
const answering = (content: string, over?: object): Behaviour => {
  return ({ path }) => (path === "/v1/models" ? modelList("m") : completion(content, over))
}

describe("servers", () => {
  test("Ollama: uses the first model it lists, with a strict schema, without thinking, deterministically", async () => {
    await using server = await serve(ollama("qwen3:0.6b", "llama3.2:1b"))
    const backend = open(server)
    const written = await backend.write(prompt, signal)
    expect(written.structured).toEqual(ANSWER)
    expect(backend.model).toBe("qwen3:0.6b")
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /v1/models",
      "POST /v1/chat/completions",
    ])
    expect(server.seen[1]?.body).toEqual({
      model: "qwen3:0.6b",
      messages: [
        { role: "system", content: prompt.instruction },
        { role: "user", content: prompt.text },
      ],
      max_tokens: prompt.maxTokens,
      temperature: 0,
      seed: 1,
      stream: false,
      reasoning_effort: "none",
      response_format: { type: "json_schema", json_schema: { name: "digest", strict: true, schema: SCHEMA } },
    } as Served["seen"][number]["body"])
  })

  test("LM Studio: skips embedding models, and does not send again what was refused once", async () => {
    await using server = await serve(lmStudio)
    const backend = open(server)
    expect((await backend.write(prompt, signal)).structured).toEqual(ANSWER)
    expect((await backend.write(prompt, signal)).structured).toEqual(ANSWER)
    expect(backend.model).toBe("qwen2.5-0.5b-instruct")
    expect(chats(server).map(({ body }) => [body.reasoning_effort, body.response_format?.type])).toEqual([
      ["none", "json_schema"],
      [undefined, "json_schema"],
      [undefined, "json_schema"],
    ])
  })

  test("llama-server: degraded while it loads, then ready", async () => {
    let loading = true
    await using server = await serve(llamaServer(() => loading))
    const backend = open(server)
    const failure = await failureOf(backend)
    expect(failure.code).toBe("UNAVAILABLE")
    expect(failure.message).toContain("answered 503 (Loading model)")
    expect(backend.state.kind).toBe("degraded")
    loading = false
    await backend.write(prompt, signal)
    expect(backend.state).toEqual({ kind: "ready" })
  })

  test("a server without response formats gets the schema in the prompt, and prose around its answer is skipped", async () => {
    await using server = await serve(ancient)
    const backend = open(server)
    for (let n = 0; n < 2; n++) expect((await backend.write(prompt, signal)).structured).toEqual(ANSWER)
    const sent = chats(server).map(({ body }) => body)
    expect(sent.map(({ response_format }) => response_format?.type)).toEqual([
      "json_schema",
      "json_schema",
      "json_object",
      undefined,
      undefined,
    ])
    const told = sent.map(({ messages }) => messages?.[0]?.content.includes(JSON.stringify(SCHEMA)))
    expect(told).toEqual([false, false, true, true, true])
  })

  test("a server without a list of models is used with the configured model", async () => {
    await using server = await serve(({ method }, response) =>
      method === "GET" ? reply(response, 404, "no such page") : completion(JSON.stringify(ANSWER)),
    )
    const backend = open(server, { model: "mine" })
    expect((await backend.write(prompt, signal)).structured).not.toBeNull()
    expect([backend.model, chats(server)[0]?.body.model]).toEqual(["mine", "mine"])
  })

  test("a key is sent as a bearer token, but only if there is one", async () => {
    await using server = await serve(ollama("m"))
    await open(server, { apiKey: "local-key" }).write(prompt, signal)
    await open(server).write(prompt, signal)
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer local-key",
      "Bearer local-key",
      undefined,
      undefined,
    ])
  })

  test("the default path is /v1, and any other is kept", async () => {
    await using server = await serve(({ method }) => (method === "GET" ? modelList("m") : completion("{}")))
    await open({ url: server.origin }).write(prompt, signal)
    await open({ url: `${server.origin}/api/openai/` }).write(prompt, signal)
    expect(server.seen.map(({ path }) => path)).toEqual([
      "/v1/models",
      "/v1/chat/completions",
      "/api/openai/models",
      "/api/openai/chat/completions",
    ])
  })
})

describe("answers", () => {
  const json = JSON.stringify(ANSWER)
  const good: Record<string, string> = {
    "after thoughts": `<think>\nThe user wants {"gist": "…"}\n</think>\n\n${json}`,
    "after thoughts that the template opened": `Okay, a {digest}.\n</think>\n${json}`,
    "that quote the tag": JSON.stringify({ gist: "the build went well", fact: "</think>" }),
  }
  for (const [how, content] of Object.entries(good)) {
    test(`${how} are read`, async () => {
      await using server = await serve(answering(content))
      const written = await open(server).write(prompt, signal)
      expect(written.structured).toEqual(JSON.parse(content.slice(content.lastIndexOf('{"gist":"'))))
    })
  }

  for (const content of ["", "I cannot do that.", "<think>hmm", "{}", '{"gist":5}']) {
    test(`${JSON.stringify(content)} does not match the schema`, async () => {
      await using server = await serve(answering(content))
      expect(await open(server).write(prompt, signal)).toMatchObject({ structured: null })
    })
  }

  const bad: Record<string, Behaviour> = {
    "no JSON": (_, response) => reply(response, 200, "<html>hello</html>"),
    "no choices": () => ({ choices: [] }),
    "an error with status 200": () => ({ error: { code: 400, message: "the request exceeds the context size" } }),
    "thoughts to the end": () => completion("", { choices: [{ message: { content: "" }, finish_reason: "length" }] }),
    "more than a megabyte": () => completion("x".repeat(1_100_000)),
    "a refusal in every form": (_, response) => reply(response, 400, { error: { message: "context size" } }),
  }
  for (const [what, chat] of Object.entries(bad)) {
    test(`${what} is a bad answer, and the server stays in use`, async () => {
      await using server = await serve((seen, response) =>
        seen.method === "GET" ? modelList("m") : chat(seen, response),
      )
      const backend = open(server)
      expect((await failureOf(backend)).code).toBe("BAD_ANSWER")
      expect(backend.state.kind).toBe("ready")
    })
  }

  test("a reply in small chunks and one without a length are read completely", async () => {
    const text = JSON.stringify(completion(JSON.stringify({ gist: "🦉 build", fact: "" })))
    const behaviours: Behaviour[] = [
      (_, response) => {
        response.writeHead(200, { "transfer-encoding": "chunked" })
        for (const byte of Buffer.from(text)) response.write(Buffer.from([byte]))
        response.end()
      },
      (_, response) => {
        response.socket?.write(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.0 200 OK\r\nserver: old\r\n\r\n${text}`)
        response.socket?.end()
      },
    ]
    for (const chat of behaviours) {
      await using server = await serve((seen, response) =>
        seen.method === "GET" ? modelList("m") : chat(seen, response),
      )
      expect((await open(server).write(prompt, signal)).structured).toEqual({ gist: "🦉 build", fact: "" })
    }
  })

  test("an answer that is not HTTP is a bad answer", async () => {
    const tcp = createTcpServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .end("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    )
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve))
    const backend = open({ url: `http://127.0.0.1:${(tcp.address() as AddressInfo).port}` })
    const failure = await failureOf(backend)
    expect(failure.code).toBe("BAD_ANSWER")
    expect(failure.message).toContain("SSH-2.0")
    expect(backend.state.kind).toBe("degraded")
    await new Promise((resolve) => tcp.close(resolve))
  })
})

describe("a server that fails", () => {
  const rows: { status: number; code: string; says: string }[] = [
    { status: 401, code: "OFF", says: "digest.openai.apiKey" },
    { status: 403, code: "OFF", says: "digest.openai.apiKey" },
    { status: 404, code: "OFF", says: "load m there and restart OpenCode, or set digest.openai.model" },
    { status: 408, code: "UNAVAILABLE", says: "408" },
    { status: 429, code: "UNAVAILABLE", says: "429" },
    { status: 500, code: "TIMEOUT", says: "500 (out of memory)" },
    { status: 502, code: "UNAVAILABLE", says: "502" },
    { status: 302, code: "OFF", says: "digest.openai.url" },
  ]
  for (const { status, code, says } of rows) {
    test(`with ${status} is ${code}, and the message says what to do`, async () => {
      await using server = await serve(({ method }, response) =>
        method === "GET" ? modelList("m") : reply(response, status, { error: { message: "out of memory" } }),
      )
      const backend = open(server)
      const failure = await failureOf(backend)
      expect(failure.code).toBe(code)
      expect(failure.message).toContain(says)
      expect(backend.state).toEqual({ kind: code === "OFF" ? "off" : "degraded", reason: failure.message })
    })
  }

  const poisons: [string, (response: ServerResponse) => void][] = [
    ["answers with 500", (response) => reply(response, 500, { error: { message: "llama runner has terminated" } })],
    ["closes the connection", (response) => void response.destroy()],
  ]
  for (const [name, fail] of poisons)
    test(`at one document, where it ${name}, is not sent that again, and gets the others`, async () => {
      await using server = await serve(({ method, body }, response) => {
        if (method === "GET") return modelList("m")
        return JSON.stringify(body).includes("poison") ? fail(response) : completion("{}")
      })
      const final: string[] = []
      const backend = open(server)
      const isFinal = (key: string) => final.includes(key)
      const queue = createQueue({ backend, isFinal, onFinal: (key) => final.push(key) })
      // the worthiest is taken first, and again and again if it is kept
      queue.offer([candidateOf("a"), candidateOf("poison", { worth: 9 }), candidateOf("b")])
      await until(() => final.length === 3, 4000)
      expect(final[0]).toBe("key-poison")
      expect(queue.counters).toMatchObject({ failed: 1, refused: 2 })
      await queue.close()
    })

  test("that refuses the connection is degraded, and used as soon as it is up", async () => {
    const before = await serve(ollama("m"))
    const port = Number(new URL(before.url).port)
    await before[Symbol.asyncDispose]()
    const backend = open(before)
    const failure = await failureOf(backend)
    expect(failure.code).toBe("UNAVAILABLE")
    expect(failure.message).toContain(`no server answers at http://127.0.0.1:${port}`)
    expect(backend.state.kind).toBe("degraded")
    await using _ = await serve(ollama("m"), { port })
    await backend.write(prompt, signal)
    expect(backend.state.kind).toBe("ready")
  })

  for (const [name, fail] of poisons)
    test(`when its models are asked for, where it ${name}, is tried again with the same document`, async () => {
      await using server = await serve((_, response) => fail(response))
      expect((await failureOf(open(server))).code).toBe("UNAVAILABLE")
    })

  test("that has no model yet is tried again, one without a list of models is off", async () => {
    for (const list of [modelList(), { object: "list", data: null }]) {
      await using empty = await serve(() => list)
      const failure = await failureOf(open(empty))
      expect(failure.code).toBe("UNAVAILABLE")
      expect(failure.message).toContain("load one there")
    }
    await using other = await serve(() => ({ hello: "world" }))
    expect((await failureOf(open(other))).code).toBe("OFF")
  })

  test("that does not answer in time is a timeout, and the connection is closed", async () => {
    let closed = () => {}
    const ended = new Promise<void>((resolve) => {
      closed = resolve
    })
    await using server = await serve(({ method }, response) => {
      if (method === "GET") return modelList("m")
      response.once("close", closed)
    })
    const backend = open(server, { timeoutMs: 50 })
    const failure = await failureOf(backend)
    expect(failure.code).toBe("TIMEOUT")
    expect(failure.message).toContain("0.05 s")
    await ended
    expect(backend.state.kind).toBe("degraded")
    // the list is requested again first, which is the quicker way to find out whether the server is up
    await failureOf(backend)
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "POST", "GET", "POST"])
  })

  test("that does not answer when its models are asked for is tried again with the same document", async () => {
    await using server = await serve(() => undefined)
    expect((await failureOf(open(server))).code).toBe("UNAVAILABLE")
  }, 20_000)

  test("that does not know the configured model is off, with the server's message", async () => {
    await using server = await serve(ollama("m"))
    const backend = open(server, { model: "other" })
    expect((await failureOf(backend)).message).toContain("answered 404 (model other not found, try pulling it first)")
  })
})

describe("addresses", () => {
  const local = [
    "http://127.0.0.1:9/v1",
    "http://127.1.2.3:9",
    "http://localhost:9",
    "http://[::1]:9",
    "http://2130706433:9",
  ]
  for (const url of local) {
    test(`${url} is this machine`, async () => {
      const backend = open({ url })
      expect([backend.state.kind, backend.sharesProcessor]).toEqual(["idle", true])
    })
  }

  const others: Record<string, string> = {
    "http://192.168.1.20:11434/v1": "digest.openai.allowRemote",
    "https://api.example.com/v1": "digest.openai.allowRemote",
    "http://localhost.example.com": "digest.openai.allowRemote",
    "http://127.0.0.1.example.com": "digest.openai.allowRemote",
    "http://[::ffff:127.0.0.1]:9": "digest.openai.allowRemote",
    "http://0.0.0.0:11434": "write 127.0.0.1",
    "http://me:secret@127.0.0.1:9": "digest.openai.apiKey",
    "ftp://127.0.0.1": "http or https",
    "11434": "http or https",
  }
  for (const [url, says] of Object.entries(others)) {
    test(`${url} is refused, without a connection`, async () => {
      const backend = open({ url })
      const failure = await failureOf(backend)
      expect(failure.code).toBe("OFF")
      expect(failure.message).toContain(says)
      expect(failure.message).not.toContain("secret")
      expect(backend.state).toEqual({ kind: "off", reason: failure.message })
    })
  }

  test("another machine is used if the user allows it, and shares no processor", () => {
    const backend = open({ url: "http://192.168.1.20:11434/v1" }, { allowRemote: true })
    expect([backend.state.kind, backend.sharesProcessor]).toEqual(["idle", false])
  })

  test("an address that only looks remote is reached too", async () => {
    // this machine's address in an unusual notation is treated like a remote one
    await using server = await serve(ollama("m"), { host: "::" })
    const url = server.url.replace("[::]", "[::ffff:127.0.0.1]")
    expect((await open({ url }, { allowRemote: true }).write(prompt, signal)).structured).not.toBeNull()
  })

  test("redirects to another server are not followed", async () => {
    await using other = await serve(ollama("m"))
    await using server = await serve((seen, response) => {
      response.writeHead(307, { location: `${other.origin}${seen.path}` })
      response.end()
    })
    expect((await failureOf(open(server))).code).toBe("OFF")
    const named = server.url.replace("127.0.0.1", "[::ffff:127.0.0.1]")
    expect((await failureOf(open({ url: named }, { allowRemote: true }))).code).toBe("OFF")
    expect(other.seen).toEqual([])
  })

  for (const host of ["127.0.0.1", "::1"]) {
    test(`localhost reaches a server that listens only on ${host}`, async () => {
      await using server = await serve(ollama("m"), { host })
      const { port } = new URL(server.url)
      expect((await open({ url: `http://localhost:${port}/v1` }).write(prompt, signal)).structured).not.toBeNull()
    })
  }
})

describe("proxies", () => {
  const runtimes: [string, string, Record<string, string>][] = [
    ["bun", process.execPath, {}],
    ["the Bun that OpenCode brings", opencode, { BUN_BE_BUN: "1" }],
  ]
  for (const [name, command, env] of runtimes) {
    test(`on ${name} requests to this machine do not go through a proxy from the environment`, async () => {
      using folder = temporaryFolder()
      await using server = await serve(ollama("m"))
      await using proxy = await serve(() => completion("{}"))
      const script = join(folder.path, "write.ts")
      writeFileSync(
        script,
        `import { createOpenai } from ${JSON.stringify(join(root, "src/digest/backends/openai.ts"))}
const backend = createOpenai({ url: ${JSON.stringify(server.url)}, timeoutMs: 10000, allowRemote: false })
const written = await backend.write(${JSON.stringify(prompt)}, new AbortController().signal)
process.stdout.write(JSON.stringify(written.structured))
`,
      )
      const proxies = Object.fromEntries(
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].map((it) => [
          it,
          proxy.origin,
        ]),
      )
      using child = spawnChild([command, script], { ...env, ...proxies, NO_PROXY: "", no_proxy: "" })
      expect(await child.finish()).toEqual({ code: 0, stdout: JSON.stringify(ANSWER), stderr: "" })
      expect([server.seen.length, proxy.seen.length]).toEqual([2, 0])
    })
  }
})
