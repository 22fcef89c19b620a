// Small factories for stored sessions, in the shapes OpenCode 1.18 writes.

import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"

export const ROOT = "/home/dev/shop"
const SESSION = "ses_test"
const START = Date.parse("2026-11-01T09:00:00Z")

/** Builds one session message by message; ids, times and part ids come by themselves. */
export class SessionBuilder {
  readonly messages: HostMessage[] = []
  private count = 0

  constructor(
    readonly sessionID = SESSION,
    readonly model = { providerID: "anthropic", modelID: "claude-sonnet-4-5" },
  ) {}

  /** Milliseconds of the host's clock at message n. */
  timeOf(n: number): number {
    return START + n * 10_000
  }

  user(text: string, extra: HostPart[] = []): this {
    return this.push("user", { agent: "build", model: this.model }, [{ type: "text", text }, ...extra])
  }

  assistant(parts: HostPart[], info: Record<string, unknown> = {}): this {
    return this.push(
      "assistant",
      { agent: "build", mode: "build", ...this.model, path: { cwd: ROOT, root: ROOT }, ...info },
      [{ type: "step-start" }, ...parts, { type: "step-finish", reason: "tool-calls" }],
    )
  }

  /** A compaction as OpenCode stores it: the request and its summary. */
  compaction(tailStartID?: string): this {
    this.push("user", { agent: "build", model: this.model }, [
      { type: "compaction", auto: true, ...(tailStartID === undefined ? {} : { tail_start_id: tailStartID }) },
    ])
    const asked = { parentID: this.messages.at(-1)?.info.id, summary: true, finish: "stop" }
    return this.push("assistant", { agent: "compaction", mode: "compaction", ...asked, ...this.model }, [
      { type: "text", text: "Summary." },
    ])
  }

  id(n: number): string {
    return `msg_${String(n).padStart(6, "0")}`
  }

  /** A deep copy, as OpenCode reads it for every call. */
  fresh(): HostMessage[] {
    return structuredClone(this.messages)
  }

  private push(role: string, info: Record<string, unknown>, parts: HostPart[]): this {
    const n = this.count++
    const id = this.id(n)
    this.messages.push({
      info: {
        id,
        sessionID: this.sessionID,
        role,
        time: { created: this.timeOf(n), completed: this.timeOf(n) + 5000 },
        ...info,
      },
      parts: parts.map((part, i) => ({
        id: `prt_${String(n).padStart(6, "0")}_${i}`,
        messageID: id,
        sessionID: this.sessionID,
        ...part,
      })),
    })
    return this
  }
}

let calls = 0

export function tool(
  name: string,
  input: Record<string, unknown>,
  output: string,
  metadata: Record<string, unknown> = {},
): HostPart {
  return {
    type: "tool",
    tool: name,
    callID: `call_${++calls}`,
    state: { status: "completed", input, output, title: "", metadata, time: { start: START, end: START + 100 } },
  }
}

export function failedTool(name: string, input: Record<string, unknown>, error: string): HostPart {
  return {
    type: "tool",
    tool: name,
    callID: `call_${++calls}`,
    state: { status: "error", input, error, time: { start: START, end: START + 100 } },
  }
}

export function read(path: string, content = "export const a = 1\n"): HostPart {
  return tool(
    "read",
    { filePath: `${ROOT}/${path}` },
    `<path>${ROOT}/${path}</path>\n<type>file</type>\n<content>\n1: ${content}</content>`,
  )
}

/** The call with an image in its result. */
export function pictured(part: HostPart): HostPart {
  const image = { type: "file", mime: "image/png", url: "data:image/png;base64,AA" }
  return { ...part, state: { ...part.state, attachments: [image] } }
}

export function edit(path: string): HostPart {
  return tool("edit", { filePath: `${ROOT}/${path}`, oldString: "a", newString: "b" }, "Edit applied successfully.")
}

export function bash(command: string, output = "", exit = 0): HostPart {
  return tool("bash", { command, description: "runs it" }, output, { exit, output })
}

export function usage(input: number, read = 0, write = 0) {
  return { tokens: { input, output: 100, reasoning: 0, cache: { read, write } } }
}
