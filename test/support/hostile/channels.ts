// A session that has one text in every channel: outputs, errors, names, arguments, paths, todo items, requests, permissions,
// agents and models.

import { createEnv } from "../../../src/digest/digests.ts"
import type { HostMessage } from "../../../src/host/v1/message.ts"
import { createLedger } from "../../../src/session/ledger.ts"
import type { Env } from "../../../src/session/tool-event.ts"
import { take } from "../conversation.ts"
import { bash, failedTool, ROOT, SessionBuilder, tool, usage } from "../session.ts"

/** Limit for names: a longer text is no different name, and each name is hashed. */
const LONGEST_NAME = 20_000

/** One part of each kind, with the text in every field. */
function partsOf(text: string) {
  const name = text.slice(0, LONGEST_NAME)
  const path = `${ROOT}/${name}`
  const todos = [
    { content: "begin", status: "completed" },
    { content: name, status: name },
    { content: name, status: "in_progress" },
  ]
  return {
    output: bash("npm test", text, 1),
    command: bash(name, text, 0),
    failed: failedTool("read", { filePath: path }, text),
    named: failedTool(name || "x", { [name]: name }, text),
    custom: tool(name || "y", { [name]: text }, text),
    read: tool("read", { filePath: path }, text),
    edit: tool("edit", { filePath: path, oldString: name, newString: text }, text),
    write: tool("write", { filePath: name, content: text }, text),
    patch: tool("apply_patch", { patchText: `*** Begin Patch\n*** Update File: ${name}\n+x\n` }, text, {
      files: [{ filePath: path, relativePath: name, type: "update" }],
    }),
    search: tool("grep", { pattern: name, path }, text),
    list: tool("glob", { pattern: name, path: name }, text),
    web: tool("webfetch", { url: name }, text),
    task: tool("task", { description: name, prompt: text }, text),
    question: tool("question", { questions: [{ question: name }] }, text),
    todo: tool("todowrite", { todos }, text, { todos }),
    running: { type: "tool", tool: name || "z", callID: "c", state: { status: "running", input: { command: name } } },
  }
}

/** Long enough for every HUD section: failures, repeats, files, an old request, a running tool. */
export function hostileSession(text: string, id?: string): SessionBuilder {
  const session = new SessionBuilder(id).user(text, [{ type: "file", filename: text.slice(0, LONGEST_NAME) }])
  const { running, ...done } = partsOf(text)
  for (const message of session.messages) message.info.agent = text.slice(0, LONGEST_NAME)
  session.assistant(Object.values(done), usage(4000))
  session.assistant([{ type: "reasoning", text }, ...Object.values(partsOf(text)).slice(0, 4)], usage(400, 4000))
  session.assistant([{ type: "patch", files: [text.slice(0, LONGEST_NAME), `${ROOT}/a.ts`] }], usage(400, 4400))
  for (let call = 0; call < 4; call++) session.assistant([bash("npm test", text, 1)], usage(400, 4800))
  return session.assistant([done.search, done.command, done.named, done.todo, running], {
    ...usage(400, 5200),
    modelID: text.slice(0, LONGEST_NAME),
  })
}

export function ledgerOf(messages: readonly HostMessage[], env: Env = createEnv(ROOT)) {
  const ledger = createLedger(env)
  take(ledger, messages)
  return ledger
}
