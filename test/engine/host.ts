// Shared by the tests of the sidecar's host side: sidecars that run a fixture and are closed with the test, and a list of
// running processes.

import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { type LaunchSpec, launchSpec } from "../../src/engine/launch.ts"
import type { Lease } from "../../src/engine/lease.ts"
import { createSidecar, type Sidecar, type SidecarConfig } from "../../src/engine/sidecar.ts"
import type { WriteRequest } from "../../src/engine/wire/messages.ts"

export const fixtures = join(import.meta.dir, "fixtures")
export const never = new AbortController().signal

/** The spec with which the plugin would start this file. */
export function specOf(main: string, ...args: string[]): LaunchSpec {
  const spec = launchSpec("auto", main)
  if ("reason" in spec) throw new Error(spec.reason)
  return { ...spec, args: [...spec.args, ...args] }
}

export const fixture = (name: string, ...args: string[]): LaunchSpec => specOf(join(fixtures, `${name}.ts`), ...args)

export const LOAD: SidecarConfig["load"] = {
  modelPath: "/models/any.gguf",
  gpu: "auto",
  contextTokens: 2048,
  threads: 1,
  memoryBytes: 0,
}

export const writing = (text: string): WriteRequest => ({
  instruction: "Sum up.",
  text,
  answer: {},
  maxTokens: 8,
})

export type Opened = { sidecar: Sidecar; reports: string[]; [Symbol.asyncDispose](): Promise<void> }

/** A sidecar for a launch spec, closed on disposal. */
export function openSidecar(spec: LaunchSpec, over: Partial<SidecarConfig> = {}): Opened {
  const reports: string[] = []
  const sidecar = createSidecar({
    spec,
    load: LOAD,
    lease: NO_LEASE,
    idleMs: 600_000,
    report: (level, message) => reports.push(`${level} ${message}`),
    ...over,
  })
  return { sidecar, reports, [Symbol.asyncDispose]: () => sidecar.close() }
}

/** Always granted. */
export const NO_LEASE: Lease = { acquire: async () => "held", release: () => {} }

/** The pid of this process's child that runs the spec's file. */
export function childOf(spec: LaunchSpec): number | undefined {
  return children().find(({ state, command }) => !state.startsWith("Z") && command.includes(spec.args[1] ?? ""))?.pid
}

/** This process's children, including zombies. Unix only. */
export function children(): { pid: number; state: string; command: string }[] {
  const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,state=,args="], { encoding: "utf8" }).split("\n")
  return lines.flatMap((line) => {
    const [, pid, parent, state = "", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    // ps itself is a child as well
    return Number(parent) === process.pid && !/^ps /.test(command) ? [{ pid: Number(pid), state, command }] : []
  })
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & { code?: string; wire?: string }> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error("expected a rejection, but the promise resolved")
}
