// Writes an answer: evaluates the instruction once, the document in chunks, and generates under a grammar. Uses the
// engine's sequence directly, because a chat session of node-llama-cpp can be cancelled only after the whole prompt (17 s
// and more) and silently drops what does not fit.

import type { LlamaContext, LlamaContextSequence, LlamaGrammar, LlamaModel, Token } from "node-llama-cpp"
import { readAnswer } from "../src/engine/wire/answer.ts"
import type { WriteReply, WriteRequest } from "../src/engine/wire/messages.ts"
import { parseJson } from "../src/system/values.ts"
import type { NodeLlamaCpp } from "./device.ts"
import { EngineError } from "./errors.ts"
import { grammarFor } from "./grammar.ts"
import { cpuChunkTokens, type Gate, gpuChunkTokens, type Speed } from "./pace.ts"
import { type Chat, fitDocument, openChat } from "./prompt.ts"

/** Positions of the context left empty for the engine's own rounding; prompts are counted exactly. */
const SPARE_TOKENS = 8

/** The text for measuring: at least 64 tokens with any tokenizer. */
const SAMPLE =
  "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo " +
  "sierra tango uniform victor whiskey xray yankee zulu one two three four five six seven eight nine ten eleven twelve " +
  "red orange yellow green blue violet black white grey brown north south east west spring summer autumn winter iron"
const SAMPLE_TOKENS = 64
const SAMPLE_STEPS = 8
const MAX_SAMPLE_MS = 3000

export class Writer {
  private readonly chat: Chat
  private readonly sequence: LlamaContextSequence
  private chunkTokens: number
  /** the evaluated common prefix of all prompts with this instruction */
  private prefix: { instruction: string; tokens: Token[] } | undefined
  private grammar: { answer: string; compiled: LlamaGrammar } | undefined

  constructor(
    private readonly engine: NodeLlamaCpp,
    private readonly model: LlamaModel,
    private readonly context: LlamaContext,
    private readonly gate: Gate,
  ) {
    this.chat = openChat(engine, model)
    this.sequence = context.getSequence()
    this.chunkTokens = cpuChunkTokens(model.fileInsights.totalParameters)
  }

  /**
   * Evaluates the common prefix of all prompts with this instruction, and takes a checkpoint after it, without which
   * hybrid models cannot return there; for others it does nothing.
   */
  async prepare(instruction: string, signal: AbortSignal): Promise<void> {
    if (this.prefix?.instruction === instruction) return
    this.prefix = undefined
    const tokens = this.chat.prefixOf(instruction)
    if (tokens.length > this.context.contextSize / 2)
      throw new EngineError(
        "BAD_REQUEST",
        `the instruction has ${tokens.length} tokens, more than half the context of ${this.context.contextSize}; shorten it`,
      )
    // always from the first token, so that the chunks are the same every time
    await this.sequence.clearHistory()
    await this.evaluate(tokens, 0, signal)
    await this.sequence.takeCheckpoint()
    this.prefix = { instruction, tokens }
  }

  /** Measures after the prefix, whose evaluation has warmed up the engine, and then returns to it. */
  async measure(signal: AbortSignal): Promise<Speed> {
    const sample = this.model.tokenize(SAMPLE).slice(0, SAMPLE_TOKENS)
    const start = performance.now()
    await this.sequence.evaluateWithoutGeneratingNewTokens(sample.slice(0, -1))
    const evaluated = performance.now()
    let steps = -1
    let stepping = evaluated
    for await (const _token of this.sequence.evaluate(sample.slice(-1), { yieldEogToken: true })) {
      signal.throwIfAborted()
      // the first step is not timed: a GPU compiles shaders for it
      if (++steps === 0) stepping = performance.now()
      else if (steps === SAMPLE_STEPS || performance.now() - stepping > MAX_SAMPLE_MS) break
    }
    const end = performance.now()
    await this.backToPrefix(signal)
    const speed = {
      prefill: ((sample.length - 1) / (evaluated - start)) * 1000,
      decode: (steps / (end - stepping)) * 1000,
    }
    if (this.model.llama.gpu) this.chunkTokens = gpuChunkTokens(speed)
    return speed
  }

  /**
   * The answer for one document. The same request gives the same bytes, whatever came before it. Rejects with the signal's
   * reason within a chunk, or with an `EngineError` BAD_REQUEST, and stays usable; after another error the process must end.
   */
  async write(request: WriteRequest, signal: AbortSignal): Promise<WriteReply> {
    const start = performance.now()
    const before = this.evaluatedTokens
    const grammar = await this.grammarOf(request.answer)
    await this.prepare(request.instruction, signal)
    await this.backToPrefix(signal)
    const prompt = this.fit(request)
    await this.sequence.adaptStateToTokens(prompt, false)
    const rest = await this.evaluate(prompt, this.chunkTokens, signal)
    const { text, outputTokens, firstAt } = await this.generate(rest, grammar, request.maxTokens, signal)
    return {
      text,
      structured: readAnswer(text, request.answer),
      usage: { promptTokens: prompt.length, evaluatedTokens: firstAt - before, outputTokens },
      elapsedMs: performance.now() - start,
    }
  }

  private fit({ instruction, text, maxTokens }: WriteRequest) {
    const size = this.context.contextSize
    const fitted =
      maxTokens > 0 &&
      fitDocument(text, size - maxTokens - SPARE_TOKENS, (part) => this.chat.promptOf(instruction, part))
    if (fitted) return fitted
    throw new EngineError(
      "BAD_REQUEST",
      `an answer of ${maxTokens} tokens leaves no room for a document in a context of ${size}; ask for 1 to ${size / 4}`,
    )
  }

  /** Always to the end of the prefix, even if more of the next prompt is in the state, so that results are reproducible. */
  private async backToPrefix(signal: AbortSignal): Promise<void> {
    if (!this.prefix) return
    const { instruction, tokens } = this.prefix
    await this.sequence.adaptStateToTokens(tokens, false)
    if (this.sequence.nextTokenIndex === tokens.length) return
    // some documents, such as an empty one, change the last tokens of the prefix
    this.prefix = undefined
    await this.prepare(instruction, signal)
  }

  /** Evaluates in chunks the tokens that are not in the state yet, except the last ones, at most `leave`, which it returns. */
  private async evaluate(tokens: readonly Token[], leave: number, signal: AbortSignal): Promise<Token[]> {
    for (;;) {
      await this.gate.pass(signal)
      const done = this.sequence.nextTokenIndex
      if (tokens.length - done <= leave) return tokens.slice(done)
      await this.sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(done, done + this.chunkTokens))
    }
  }

  /** `rest` is the unevaluated end of the prompt; its last token yields the first token of the answer. */
  private async generate(rest: Token[], grammar: LlamaGrammar, maxTokens: number, signal: AbortSignal) {
    const { model } = this
    const grammarEvaluationState = new this.engine.LlamaGrammarEvaluationState({ model, grammar })
    const written: Token[] = []
    let text = ""
    let firstAt = 0
    // the seed has no effect at temperature 0, but its default is the clock
    for await (const token of this.sequence.evaluate(rest, { temperature: 0, seed: 1, grammarEvaluationState })) {
      firstAt ||= this.evaluatedTokens
      written.push(token)
      text = model.detokenize(written)
      // after the closing bracket the grammar allows only the end of the text, which would take one more step
      if (written.length >= maxTokens || isWhole(text)) break
      await this.gate.pass(signal)
    }
    return { text, outputTokens: written.length, firstAt: firstAt || this.evaluatedTokens }
  }

  private async grammarOf(answer: WriteRequest["answer"]): Promise<LlamaGrammar> {
    const key = JSON.stringify(answer)
    if (this.grammar?.answer !== key) {
      const compiled = await this.model.llama.createGrammar({ grammar: grammarFor(answer) }).catch((error: unknown) => {
        throw new EngineError("BAD_REQUEST", "answer: too large for a grammar; make its limits smaller", {
          cause: error,
        })
      })
      this.grammar = { answer: key, compiled }
    }
    return this.grammar.compiled
  }

  /** The engine's own count. */
  private get evaluatedTokens(): number {
    const { usedInputTokens, usedOutputTokens } = this.sequence.tokenMeter
    return usedInputTokens + usedOutputTokens
  }
}

function isWhole(text: string): boolean {
  return text.endsWith("}") && parseJson(text) !== undefined
}
