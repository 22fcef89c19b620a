// `digest.openai.url` must name this machine, however it is written. The checked address is the one that is connected to: there
// is no lookup in between, and no redirect is followed.

import { describe, expect, test } from "bun:test"
import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { BackendError } from "../../src/digest/backends/backend.ts"
import { exchange, readAddress } from "../../src/digest/backends/http.ts"
import { createOpenai } from "../../src/digest/backends/openai.ts"
import { optionsSchema } from "../../src/options.ts"
import { errorOf } from "../engine/host.ts"
import { ollama, serve } from "./servers.ts"
import { promptOf } from "./support.ts"

const signal = new AbortController().signal

const remote = [
  // names that begin or end like this machine's
  ...[
    "http://127.0.0.1.evil.com",
    "http://localhost.evil.com",
    "http://evil.com/127.0.0.1",
    "http://evil.com#@127.0.0.1",
  ],
  ...[
    "http://evil.com?@127.0.0.1",
    "http://evil.com\\@127.0.0.1",
    "http://localhostx",
    "http://xlocalhost",
    "http://127.evil.com",
  ],
  ...["http://127.0.0.1@evil.com", "http://localhost:11434@evil.com", "http://evil.com:127"],
  ...["http://127-0-0-1.sslip.io", "http://localtest.me", "http://lvh.me", "http://local", "http://localhost6"],
  // names of this machine that a resolver decides about
  ...[
    "http://localhost.",
    "http://LOCALHOST.",
    "http://localhost.localdomain",
    "http://ip6-localhost",
    "http://foo.localhost",
  ],
  // other ways to write an address
  ...[
    "http://0",
    "http://0.0.0.0",
    "http://000.0.0.0",
    "http://0x0",
    "http://[::]",
    "http://[::0]",
    "http://[0:0:0:0:0:0:0:0]",
  ],
  ...[
    "http://[::ffff:8.8.8.8]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:0:127.0.0.1]",
    "http://[64:ff9b::7f00:1]",
  ],
  ...[
    "http://[fe80::1]",
    "http://[fe80::1%25lo]",
    "http://[::1%25eth0]",
    "http://[::1%lo]",
    "http://[::2]",
    "http://[1::1]",
  ],
  ...[
    "http://134744072",
    "http://0x08080808",
    "http://010.8.8.8",
    "http://0177.0.0.1.com",
    "http://128.0.0.1",
    "http://126.0.0.1",
  ],
  ...[
    "http://10.0.0.1",
    "http://172.17.0.1",
    "http://192.168.0.1",
    "http://169.254.169.254",
    "http://metadata.google.internal",
  ],
  ...["http://host.docker.internal:11434", "http://１２８.0.0.1", "http://ⓔvil.com", "http://127。0。0。1。com"],
  // others than http
  ...[
    "https://127.0.0.1",
    "https://localhost:8443",
    "https://[::1]",
    "unix:///var/run/ollama.sock",
    "http+unix://x",
    "file:///etc",
  ],
  ...[
    "ws://127.0.0.1",
    "ftp://127.0.0.1",
    "javascript:alert(1)",
    "data:text/plain,x",
    "//127.0.0.1",
    "127.0.0.1:11434",
    "",
    " ",
  ],
  // with credentials
  ...["http://me@127.0.0.1", "http://me:pw@127.0.0.1", "http://:pw@localhost", "http://%6de@127.0.0.1"],
]
test.each(remote)("%j is refused without a connection", (url) => {
  expect(() => readAddress(url, false)).toThrow(BackendError)
  const backend = createOpenai({ url, timeoutMs: 1000, allowRemote: false })
  expect(backend.state.kind).toBe("off")
})

const here: Record<string, string> = {
  "http://127.0.0.1:11434/v1": "127.0.0.1",
  "HTTP://LOCALHOST:11434": "localhost",
  "http://LocalHost": "localhost",
  "http://127.1": "127.0.0.1",
  "http://2130706433": "127.0.0.1",
  "http://0x7f.1": "127.0.0.1",
  "http://0177.0.0.1": "127.0.0.1",
  "http://127.0.0.1.": "127.0.0.1",
  "http://127.255.255.254": "127.255.255.254",
  "http://１２７.0.0.1": "127.0.0.1",
  "http://127。0。0。1": "127.0.0.1",
  "http://[::1]": "[::1]",
  "http://[0:0:0:0:0:0:0:1]": "[::1]",
  "\thttp://127.0.0.1\n": "127.0.0.1",
  "http://ｌocalhost": "localhost",
  // a backslash begins a path
  "http://127.0.0.1:80\\@evil.com": "127.0.0.1",
  "http://127.0.0.1//evil.com": "127.0.0.1",
}
test.each(Object.entries(here))("%j is this machine, and the connection uses that literal", (url, host) => {
  const { local, chat, models } = readAddress(url, false)
  expect([local, chat.hostname, models.hostname]).toEqual([true, host, host])
})

test.each(["http://127.0.0.1", "http://localhost:9/v1", "http://[::1]:9"])(
  "%s keeps its host, whatever its path says",
  (base) => {
    for (const path of [
      "//evil.com/v1",
      "/\\evil.com",
      "/..//evil.com",
      "/v1?x=//evil.com",
      "/@evil.com",
      "/%2f%2fevil.com",
    ]) {
      const { chat, models } = readAddress(base + path, false)
      expect([chat.host, models.host]).toEqual([new URL(base).host, new URL(base).host])
    }
  },
)

describe("a redirect", () => {
  test.each([300, 301, 302, 303, 307, 308])(
    "with status %d is followed nowhere, not even to this machine",
    async (status) => {
      await using other = await serve(ollama("m"))
      await using server = await serve((seen, response) => {
        response.writeHead(status, { location: `${other.origin}${seen.path}` })
        response.end()
      })
      const backend = createOpenai({ url: server.url, timeoutMs: 10_000, allowRemote: false })
      const error = await errorOf(backend.write(promptOf("a"), signal))
      expect([error.code, error.message]).toEqual(["OFF", expect.stringContaining("a redirect, which is not followed")])
      expect(other.seen).toEqual([])
    },
  )
})

test("localhost is this machine without a lookup, whatever a resolver or the hosts file says", async () => {
  // reached by its literal, so that only the request has the name
  await using server = await serve(ollama("m"))
  const { port } = new URL(server.url)
  const dns = await import("node:dns")
  const asked: string[] = []
  const { lookup } = dns.default
  Object.assign(dns.default, { lookup: (name: string) => asked.push(name) })
  try {
    const { chat } = readAddress(`http://localhost:${port}`, false)
    const { status } = await exchange({ url: new URL("/v1/models", chat), local: true, headers: {} }, signal)
    expect([status, asked]).toEqual([200, []])
  } finally {
    Object.assign(dns.default, { lookup })
  }
})

test("a value with a line break adds no header and no request", async () => {
  const lines: string[] = []
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      lines.push(...String(chunk).split("\r\n"))
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const headers = { authorization: "Bearer x\r\nx-evil: 1\r\n\r\nGET /evil HTTP/1.1" }
  try {
    const url = new URL(`http://127.0.0.1:${port}/v1/models%0d%0ax-evil:%201`)
    await exchange({ url, local: true, headers }, signal)
  } finally {
    server.close()
  }
  expect(lines.filter((line) => /^x-evil|^GET \/evil/i.test(line))).toEqual([])
  expect(lines[0]).toStartWith("GET /v1/models%0d%0ax-evil")
})

test("port 0 is reported as unreachable", async () => {
  const backend = createOpenai({ url: "http://127.0.0.1:0", timeoutMs: 2000, allowRemote: false })
  expect((await errorOf(backend.write(promptOf("a"), signal))).code).toBe("UNAVAILABLE")
})

test("if another machine is allowed, the log names it; this machine is not logged", async () => {
  const said = async (url: string) => {
    const { digest } = optionsSchema.parse({ digest: { openai: { url, allowRemote: true } } })
    const lines: string[] = []
    await createOpenai(digest.openai, (level, message) => lines.push(`${level} ${message}`)).close()
    return lines
  }
  expect(await said("http://192.0.2.1:11434/v1")).toEqual([
    "warn digest.openai.allowRemote: tool outputs are sent to http://192.0.2.1:11434",
  ])
  expect(await said("http://127.0.0.1:11434/v1")).toEqual([])
})
