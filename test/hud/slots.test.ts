import { expect, test } from "bun:test"
import { slotFor } from "../../src/hud/slots.ts"

test.each([
  ["anthropic", "claude-sonnet-4-5", "tail"],
  ["anthropic", "claude-sonnet-4-5-20250929", "tail"],
  ["anthropic", "claude-sonnet-5-5", "sticky"],
  ["anthropic", "claude-opus-5.1", "sticky"],
  ["anthropic", "claude-opus-5-20270101", "tail"],
  ["amazon-bedrock", "eu.anthropic.claude-opus-6-0-v1", "sticky"],
  ["anthropic", "claude-mythos-5-1", "tail"],
  ["anthropic", "claude-3-5-sonnet-20241022", "tail"],
  ["openai", "gpt-5.4", "tail"],
  ["openai", "gpt-6.1-sol", "tail"],
  ["openai", "gpt-6.2-astra", "sticky"],
  ["openrouter", "openai/gpt-7", "sticky"],
  ["openai", "gpt-5-2025-08-07", "tail"],
  ["databricks", "databricks-gpt-6-2", "sticky"],
  ["azure", "gpt-35-turbo", "tail"],
  ["github-copilot", "gpt-5.4", "tool"],
  ["github-copilot-enterprise", "claude-sonnet-5-5", "tool"],
  ["mistral", "anything", "tool"],
  ["openrouter", "mistralai/devstral-small", "tool"],
  ["ollama", "gemma3:27b", "tool"],
  ["tencent-coding-plan", "hunyuan-2.0-thinking", "tool"],
  ["siliconflow", "tencent/Hunyuan-A13B-Instruct", "tool"],
  ["databricks", "databricks-meta-llama-3-3-70b-instruct", "tool"],
  ["databricks", "databricks-gpt-5-4", "tail"],
  ["amazon-bedrock", "us.meta.llama4-maverick-17b-instruct-v1:0", "tool"],
  ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "tail"],
])("%s/%s gets the HUD in the %s slot", (providerID, modelID, slot) => {
  expect(slotFor("auto", { providerID, modelID })).toBe(slot as never)
})

test.each([
  ["openai", "gpt-5.4", "tool"],
  ["opencode", "minimax-m2.5", "tool"],
  ["openai", "gpt-6.2-astra", "sticky"],
  ["anthropic", "claude-haiku-4-5", "tail"],
  ["openrouter", "anthropic/claude-sonnet-4.5", "tail"],
  ["ollama", "gemma3:27b", "tool"],
])("%s/%s that has thought in the running turn gets the HUD in the %s slot", (providerID, modelID, slot) => {
  const model = { providerID, modelID }
  expect(slotFor("auto", model, true)).toBe(slot as never)
  expect(slotFor("tail", model, true)).toBe(modelID.startsWith("gemma") ? "tool" : "tail")
})

test("the option takes precedence over the table, and an unknown model gets the tail", () => {
  expect(slotFor("sticky", { providerID: "openai", modelID: "gpt-5" })).toBe("sticky")
  expect(slotFor("auto", undefined)).toBe("tail")
})

test.each(["tail", "sticky"] as const)("the option %s does not hold where a message of ours does harm", (wanted) => {
  for (const [providerID, modelID] of [
    ["mistral", "mistral-large-latest"],
    ["openrouter", "mistralai/devstral-medium"],
    ["github-copilot", "gpt-4.1"],
    ["lmstudio", "gemma-3-27b-it"],
  ] as const)
    expect(slotFor(wanted, { providerID, modelID })).toBe("tool")
  expect(slotFor(wanted, { providerID: "anthropic", modelID: "claude-sonnet-5-5" })).toBe(wanted)
})
