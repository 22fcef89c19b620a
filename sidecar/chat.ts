// A request as the model's own chat format has it, in tokens: the instruction first, the same for every request, then
// the document, then what makes the model answer.

import type { ChatHistoryItem, LlamaModel, Token } from "node-llama-cpp"
import type { NodeLlamaCpp } from "./device.ts"

export type Chat = {
  /** everything up to the answer's first token */
  promptOf(instruction: string, text: string): Token[]
  /** what every prompt with this instruction begins with */
  prefixOf(instruction: string): Token[]
}

/**
 * Works for every model: one without a system role gets the instruction at the head of the user's turn, one without a
 * template a plain text format. The format is found once here; node-llama-cpp's "auto" tests it anew for every session,
 * 0.2 to 1.1 s each time.
 */
export function openChat(engine: NodeLlamaCpp, model: LlamaModel): Chat {
  const wrapper = engine.resolveChatWrapper(model, {
    warningLogs: false,
    // no thoughts: the answer is one or two lines, and its grammar has no room for any
    customWrapperSettings: {
      qwen: { thoughts: "discourage" },
      gemma4: { reasoning: false },
      jinjaTemplate: { reasoning: false },
    },
  })
  const { bos } = model.tokens
  const disarm = disarmFor(model)

  function promptOf(instruction: string, document: string): Token[] {
    const text = disarm(document)
    const chatHistory: ChatHistoryItem[] = [
      ...(instruction === "" ? [] : [{ type: "system" as const, text: instruction }]),
      { type: "user", text },
      { type: "model", response: [] },
    ]
    const tokens = wrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer)
    // one, where the format or the model wants it: a wrapper adds its own before SmolLM2's turns, which begin with that
    // same token, and leaves out one that a template leaves to the tokenizer
    const begins = bos !== null && (tokens[0] === bos || model.tokens.shouldPrependBosToken)
    return begins ? [bos, ...tokens.slice(tokens.findIndex((token) => token !== bos))] : tokens
  }

  return {
    promptOf,
    prefixOf(instruction) {
      // of two documents that begin as differently as documents can
      const [one, other] = [promptOf(instruction, "\n0"), promptOf(instruction, "x y")]
      const end = one.findIndex((token, index) => token !== other[index])
      return one.slice(0, Math.max(0, end))
    },
  }
}

/** How marks of turns are written that are no words of a text; of one family's llama.cpp makes words by itself. */
const BARRED = /^<[|\uff5c].*[|\uff5c]>$/

/**
 * Takes the format's own marks out of a document. A tokenizer that is told to find no special tokens finds those all the
 * same that a model's maker has declared as its own words, and with some models the marks of its turns are such.
 */
function disarmFor(model: LlamaModel): (document: string) => string {
  const template: unknown = model.fileInfo.metadata.tokenizer?.chat_template
  const known = new Map<Token, string | undefined>()
  const markOf = (token: Token): string | undefined => {
    const { control, userDefined } = model.getTokenAttributes(token)
    if (!control && !userDefined) return
    const mark = model.detokenize([token], true)
    if (control) return mark
    // others are words: runs of spaces, tags of a page
    const isFormats = mark.trim().length > 2 && typeof template === "string" && template.includes(mark)
    return isFormats || BARRED.test(mark) ? mark : undefined
  }
  return (document) => {
    let text = document
    for (const token of new Set(model.tokenize(document))) {
      if (!known.has(token)) known.set(token, markOf(token))
      const mark = known.get(token)
      if (mark !== undefined && mark !== "") text = text.replaceAll(mark, `${mark.slice(0, 1)} ${mark.slice(1)}`)
    }
    return text
  }
}
