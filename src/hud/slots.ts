// The HUD's place in the request, by provider and model. Each row of the table states its reason.

import { bindsThinking, type ModelName, modelKey } from "../session/conversation.ts"

export const SLOTS = ["tail", "tool", "sticky"] as const
export type Slot = (typeof SLOTS)[number]

/** A HUD text that was sent, and the id of the message it was sent after. */
export type Anchor = { after: string; text: string }

/** The HUD of one request and its place. Without a text there is none; `anchors` are all texts that stay in place. */
export type Placement =
  | { slot: "tail" | "tool"; text: string | undefined }
  | { slot: "sticky"; anchors: readonly Anchor[] }

/** No HUD, and none that stays. */
export const NO_HUD: Placement = { slot: "tail", text: undefined }

/** `models` and `reason` are for the docs. */
type Row = {
  slot: Slot
  models: string
  reason: string
  /** `thinks`: the running turn has thinking of this model */
  matches(model: ModelName, thinks: boolean): boolean
}

export const SLOT_TABLE: readonly Row[] = [
  {
    slot: "tool",
    models: "GitHub Copilot",
    reason: "GitHub Copilot bills a request whose last message is the user's as a premium request",
    matches: ({ providerID }) => providerID.startsWith("github-copilot"),
  },
  {
    slot: "tool",
    models: "Mistral's, by provider or name",
    reason: 'OpenCode puts an assistant "Done." between a tool message and a user message for Mistral models',
    matches: ({ providerID, modelID }) =>
      providerID === "mistral" || /mistral|devstral|codestral|pixtral|mixtral|ministral|magistral/i.test(modelID),
  },
  {
    slot: "tool",
    models: "Gemma, Hunyuan, Databricks' Llama and DBRX",
    reason: "Gemma's chat template, Tencent and Databricks demand that user and assistant alternate",
    matches: (model) => /gemma|hunyuan|databricks.*(?:llama|dbrx)/i.test(modelKey(model)),
  },
  {
    slot: "tool",
    models: "Amazon Bedrock, except Claude",
    reason: "Amazon Bedrock refuses a text beside a tool's result for Llama and perhaps others, not for Claude",
    matches: ({ providerID, modelID }) => providerID.includes("bedrock") && !/claude|anthropic/i.test(modelID),
  },
  {
    slot: "sticky",
    models: "Claude from 5.1 on, GPT from 6.2 on",
    reason: "their thinking is bound to everything before it; a HUD taken away drops the thinking after it",
    matches: bindsThinking,
  },
  {
    slot: "tool",
    models: "others that have thought in the running turn, except Claude",
    reason: "they no longer see what they thought before a message in the user's role",
    matches: (model, thinks) => thinks && !/claude/i.test(model.modelID),
  },
  {
    slot: "tail",
    models: "all others",
    reason: "nothing before the HUD moves, and it is never stale",
    matches: () => true,
  },
]

/** Whether no message of ours in the user's role may follow a tool's result or a user's message. */
export function mustAlternate(model: ModelName | undefined): boolean {
  return rowFor(model, false)?.slot === "tool"
}

/**
 * The slot for a model: the option `wanted`, unless the model must have the HUD in a tool result. An unknown model gets the
 * tail. `thinks`: the running turn has thinking of this model.
 */
export function slotFor(wanted: Slot | "auto", model: ModelName | undefined, thinks = false): Slot {
  return wanted === "auto" || mustAlternate(model) ? (rowFor(model, thinks)?.slot ?? "tail") : wanted
}

function rowFor(model: ModelName | undefined, thinks: boolean): Row | undefined {
  // the configuration may name a model as it likes
  const called = model && { ...model, modelID: model.apiID ?? model.modelID }
  return SLOT_TABLE.find((row) => called && row.matches(called, thinks))
}
