// What the scripted provider finds wrong with a request: each fault alone is found, and a sound request has none.

import { expect, test } from "bun:test"
import { asChat, type ConverseMessage, type GeminiContent, type ResponsesItem } from "../opencode/as-chat.ts"
import type { Body, Message, ModelRequest, Wire } from "../opencode/request.ts"
import { faultsOf, type Template } from "../opencode/roles.ts"

function faults(template: Template, body: Body): string[] {
  const wire: Wire = template === "responses" || template === "gemini" || template === "bedrock" ? template : "openai"
  return faultsOf({ body: asChat(wire, body), raw: JSON.stringify(body) } as ModelRequest, template, false)
}

const asked = { role: "user", content: [{ type: "input_text", text: "go" }] }
const thought = { type: "reasoning", encrypted_content: "x" } as ResponsesItem
const called = { type: "function_call", call_id: "c1", name: "read", arguments: "{}" }
const returned = { type: "function_call_output", call_id: "c1", output: "text" }
test.each<[string, ResponsesItem[], number]>([
  ["a sound one", [asked, thought, called, returned], 0],
  ["with a user's message after the result", [asked, called, returned, asked], 0],
  ["reasoning without what it led to", [asked, called, returned, thought, asked], 1],
  ["a call without its result", [asked, called, asked], 1],
  ["a result without its call", [asked, returned], 1],
  ["a user's message between a call and its result", [asked, called, asked, returned], 2],
])("Responses: %s", (_, input, count) => {
  expect(faults("responses", { input })).toHaveLength(count)
})

const user: GeminiContent = { role: "user", parts: [{ text: "go" }] }
const call: GeminiContent = {
  role: "model",
  parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature: "x" }],
}
const unsigned: GeminiContent = { role: "model", parts: [{ functionCall: { name: "read", args: {} } }] }
const answer: GeminiContent = {
  role: "user",
  parts: [{ functionResponse: { name: "read", response: { content: "text" } } }],
}
test.each<[string, GeminiContent[], RegExp]>([
  ["a sound one", [user, call, answer], /^$/],
  ["with a user's message after the answer", [user, call, answer, user], /^$/],
  ["a call of an earlier turn without its signature", [user, unsigned, answer, user], /^$/],
  ["a call of the running turn without its signature", [user, unsigned, answer], /without its signature/],
  ["a call without its answer", [user, call, user], /calls read, answers ;|calls read, answers $/m],
  ["two of the model's in a row", [user, call, call, answer], /second of the model's/],
  ["the model's first", [call, answer], /not the user's/],
])("Gemini: %s", (_, contents, expected) => {
  expect(faults("gemini", { contents }).join("\n")).toMatch(expected)
})

const typed = { text: "go" }
const used = { role: "assistant", content: [{ toolUse: { toolUseId: "c1", name: "read", input: {} } }] }
const gave = { toolResult: { toolUseId: "c1", content: [{ text: "text" }] } }
const point = { cachePoint: { type: "default" } }
test.each<[string, ConverseMessage[], RegExp]>([
  ["a sound one", [{ role: "user", content: [typed, point] }, used, { role: "user", content: [gave, point] }], /^$/],
  [
    "a text beside a result",
    [{ role: "user", content: [typed] }, used, { role: "user", content: [gave, typed] }],
    /turn 2: a result beside/,
  ],
  [
    "two turns of the user's",
    [
      { role: "user", content: [typed] },
      { role: "user", content: [typed] },
    ],
    /turn 1 is the user's/,
  ],
  ["a turn without content", [{ role: "user", content: [point] }], /turn 0 is empty/],
  ["a call without its result", [{ role: "user", content: [typed] }, used], /calls c1, results/],
])("Bedrock: %s", (_, messages, expected) => {
  expect(faults("bedrock", { messages }).join("\n")).toMatch(expected)
})

const says = (role: string, content = "text"): Message => ({ role, content })
const calls = (id: string): Message => ({ role: "assistant", content: "", tool_calls: [{ id }] })
const result = (id: string): Message => ({ role: "tool", tool_call_id: id, content: "text" })
test.each<[Template, string, Message[], number]>([
  ["mistral", "a sound one", [says("user"), calls("1"), result("1"), says("assistant"), says("user")], 0],
  ["mistral", "a user's message after a result", [says("user"), calls("1"), result("1"), says("user")], 2],
  [
    "mistral",
    "what OpenCode inserts",
    [says("user"), calls("1"), result("1"), says("assistant", "Done."), says("user")],
    1,
  ],
  ["mistral", "two of the user's in a row", [says("user"), says("user")], 1],
  ["gemma", "a sound one", [says("user"), calls("1"), result("1")], 0],
  ["gemma", "a user's message after a result", [says("user"), calls("1"), result("1"), says("user")], 1],
  [
    "copilot",
    "a user's message that nobody wrote at the end",
    [says("user"), calls("1"), result("1"), says("user")],
    1,
  ],
  ["chat", "the same id twice", [says("user"), calls("1"), result("1"), calls("1"), result("1")], 1],
])("%s: %s", (template, _, messages, count) => {
  expect(faults(template, { messages })).toHaveLength(count)
})
