// `opencode serve` as a long-running program starts it: on a port that it keeps over a restart, with its printed output and
// a connection that can be cut.

import { spawn } from "node:child_process"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { ownChild, stopChild } from "../../opencode/owned.ts"
import { freePort, ready } from "../../opencode/serve.ts"

export type Serving = {
  url: string
  port: number
  /** stdout and stderr together */
  printed(): string
  stop(): Promise<void>
}

export type ServeOptions = {
  opencode: string
  directory: string
  env: Readonly<Record<string, string>>
  /** a free one when absent */
  port?: number
}

/** Resolves when the server says that it listens; rejects with what it printed when it ends before. */
export async function startServe({ opencode, directory, env, port: wanted }: ServeOptions): Promise<Serving> {
  const port = wanted ?? (await freePort())
  const child = ownChild(
    spawn(opencode, ["serve", "--port", String(port), "--hostname", "127.0.0.1"], {
      cwd: directory,
      env: { ...env, PWD: directory },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    }),
  )
  let printed = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk.toString("utf8")
    })
  try {
    await ready(child)
  } catch (cause) {
    await stopChild(child)
    throw cause
  }
  return { url: `http://127.0.0.1:${port}`, port, printed: () => printed, stop: () => stopChild(child) }
}

export type Line = {
  url: string
  /** Drops every connection that is open; new ones are let through. */
  cut(): void
  close(): Promise<void>
}

/**
 * A bad connection to a server: it passes on answers a few bytes at a time, which splits characters and line ends, and can
 * be cut.
 */
export async function badLine(to: number, pieceBytes: number): Promise<Line> {
  const open = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connect(to, "127.0.0.1")
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      open.add(socket)
      socket.on("error", () => {})
      socket.once("close", () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.on("data", (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += pieceBytes) near.write(chunk.subarray(at, at + pieceBytes))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
}
