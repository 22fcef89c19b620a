// The prompt of a request as tokens in the model's chat format: the instruction, constant across requests; the document,
// cut to fit the context; and the start of the model's turn.

import type { ChatHistoryItem, LlamaModel, Token } from "node-llama-cpp"
import type { NodeLlamaCpp } from "./device.ts"

export type Chat = ReturnType<typeof openChat>

/**
 * Works for every model: without a system role the instruction becomes the start of the user's turn, without a template a
 * plain text format is used. The format is determined once, which takes 0.2 to 1.1 s; node-llama-cpp's "auto" does it for
 * every chat session.
 */
export function openChat(engine: NodeLlamaCpp, model: LlamaModel) {
  const wrapper = engine.resolveChatWrapper(model, {
    warningLogs: false,
    // no thinking: the grammar does not allow it
    customWrapperSettings: {
      qwen: { thoughts: "discourage" },
      gemma4: { reasoning: false },
      jinjaTemplate: { reasoning: false },
    },
  })
  const { bos } = model.tokens
  const defuse = markerDefuser(model)

  /** Everything before the first token of the answer. */
  function promptOf(instruction: string, document: string): Token[] {
    const text = defuse(document)
    const chatHistory: ChatHistoryItem[] = [
      ...(instruction === "" ? [] : [{ type: "system" as const, text: instruction }]),
      { type: "user", text },
      { type: "model", response: [] },
    ]
    const tokens = wrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer)
    // Exactly one BOS token, if the format or the model requires it. The wrapper adds a second one before the turns of
    // SmolLM2, which begin with it, and omits one that a template leaves to the tokenizer.
    const hasBos = bos !== null && (tokens[0] === bos || model.tokens.shouldPrependBosToken)
    return hasBos ? [bos, ...tokens.slice(tokens.findIndex((token) => token !== bos))] : tokens
  }

  return {
    promptOf,
    /** The common prefix of all prompts with this instruction: that of two documents whose beginnings differ. */
    prefixOf(instruction: string): Token[] {
      const [one, other] = [promptOf(instruction, "\n0"), promptOf(instruction, "x y")]
      const end = one.findIndex((token, index) => token !== other[index])
      return one.slice(0, Math.max(0, end))
    },
  }
}

/** Turn markers such as `<|im_start|>`, which some models declare as ordinary words. */
const BARRED_MARKER = /^<[|\uff5c].*[|\uff5c]>$/

/**
 * Breaks up the chat format's markers in a document. Even without special tokens a tokenizer recognizes user-defined
 * ones, and some models define their turn markers as such.
 */
function markerDefuser(model: LlamaModel): (document: string) => string {
  const template: unknown = model.fileInfo.metadata.tokenizer?.chat_template
  const known = new Map<Token, string | undefined>()
  const markOf = (token: Token): string | undefined => {
    const { control, userDefined } = model.getTokenAttributes(token)
    if (!control && !userDefined) return
    const mark = model.detokenize([token], true)
    if (control) return mark
    // other user-defined tokens are ordinary text: runs of spaces, HTML tags
    const isInTemplate = mark.trim().length > 2 && typeof template === "string" && template.includes(mark)
    return isInTemplate || BARRED_MARKER.test(mark) ? mark : undefined
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

/** With less of the document a digest is pointless. */
const MIN_DOCUMENT_CHARS = 16

const GAP = "\n[… left out …]\n"

/**
 * Upper bound of a document's average. Longer texts are not tokenized as a whole: some tokenizers are recursive, and all
 * block the process, so that it cannot react to a cancellation.
 */
const MAX_CHARS_PER_TOKEN = 12

/**
 * The prompt with as much of the document as fits in `roomTokens`, half from its head and half from its tail, cut at line
 * ends where that costs little. Deterministic. Undefined if hardly anything fits. An engine given a prompt that is too long
 * would silently drop the whole document and still give a well-formed answer.
 */
export function fitDocument(
  text: string,
  roomTokens: number,
  promptOf: (text: string) => Token[],
): Token[] | undefined {
  const emptyTokens = promptOf(GAP).length
  for (let keptChars = Math.min(text.length, roomTokens * MAX_CHARS_PER_TOKEN); ; ) {
    const prompt = promptOf(keptChars < text.length ? withoutMiddle(text, keptChars / 2) : text)
    if (prompt.length <= roomTokens) return prompt
    const share = (roomTokens - emptyTokens) / (prompt.length - emptyTokens)
    keptChars = Math.floor(keptChars * Math.min(share, 0.99))
    if (keptChars < MIN_DOCUMENT_CHARS) return
  }
}

function withoutMiddle(text: string, half: number): string {
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, "")
  const tail = text.slice(-half).replace(/^[\uDC00-\uDFFF]/, "")
  const [lineEnd, lineStart] = [head.lastIndexOf("\n"), tail.indexOf("\n")]
  return [
    lineEnd > half / 2 ? head.slice(0, lineEnd) : head,
    lineStart >= 0 && lineStart < half / 2 ? tail.slice(lineStart + 1) : tail,
  ].join(GAP)
}
