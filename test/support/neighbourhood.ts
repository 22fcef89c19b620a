// One OpenCode server with projects that load other plugins beside this one, in a given order; and what must hold for every
// request.

import { expect } from "bun:test"
import { createHost, findOpencode, type Host } from "../opencode/host.ts"
import { type Provider, startProvider } from "../opencode/provider.ts"
import { hudsOf, type ModelRequest, messagesOf } from "../opencode/request.ts"
import type { Client } from "../opencode/serve.ts"
import { FILES as LOGS } from "./folds.ts"
import { FILES, type ServedWorld } from "./world.ts"

type Spec = string | readonly [string, object]

export type Neighbourhood = ServedWorld & {
  /** A project that loads these plugins in this order. */
  project(name: string, plugins: readonly Spec[]): string
}

/** `env` is added to the server's environment. */
export async function openNeighbourhood(env: Readonly<Record<string, string>> = {}): Promise<Neighbourhood> {
  const provider: Provider = await startProvider()
  const host: Host = createHost({ opencode: findOpencode(), url: provider.url, env })
  let client: Client
  try {
    client = await host.serve()
  } catch (cause) {
    await host.close()
    await provider.close()
    throw cause
  }
  return {
    provider,
    host,
    client,
    project: (name, plugin) =>
      host.addProject(name, {
        ...FILES,
        ...LOGS,
        "AGENTS.md": "Keep the words few.\n",
        // asked for by a tool of another plugin's; nobody is there to answer
        "opencode.json": JSON.stringify({ plugin, permission: { compress: "allow" } }),
      }),
    close: async () => {
      await host.close()
      await provider.close()
    },
  }
}

/** One HUD whole, and as many tool results as there were calls, each once and behind its call. */
export function expectSound(request: ModelRequest): void {
  const huds = hudsOf(request)
  for (const hud of huds) expect(hud).toMatch(/^<hud>\nhudfold status, call \d+\n[^<]*<\/hud>$/)
  expect(huds.length).toBeLessThanOrEqual(1)
  expect(request.raw.split("<hud>\\nhudfold status").length - 1).toBe(huds.length)
  const open = new Set<string>()
  for (const message of messagesOf(request)) {
    if (message.role === "tool") {
      expect(open.delete(String(message.tool_call_id))).toBe(true)
      continue
    }
    expect([...open]).toEqual([])
    for (const { id } of (message.tool_calls ?? []) as { id: string }[]) open.add(id)
  }
  expect([...open]).toEqual([])
}

/** Lines of OpenCode's log that are a warning or an error. */
export function complaints(log: string): string[] {
  return log.split("\n").filter((line) => /level=(WARN|ERROR)/.test(line))
}
