// The request loop: instruction evaluated once, document in chunks, answer under its grammar. It works on the engine's
// one sequence directly; a chat session of node-llama-cpp can be cancelled only after the whole prompt (17 s and more)
// and drops what does not fit without a word.

import type { LlamaContext, LlamaContextSequence, LlamaGrammar, LlamaModel, Token } from "node-llama-cpp"
import { readAnswer } from "../src/engine/wire/answer.ts"
import type { Write, WriteReply } from "../src/engine/wire/messages.ts"
import { type Chat, openChat } from "./chat.ts"
import type { NodeLlamaCpp } from "./device.ts"
import { EngineError } from "./errors.ts"
import { fitDocument } from "./fit.ts"
import type { Gate } from "./gate.ts"
import { grammarFor } from "./grammar.ts"
import { chunkOnGpu, chunkOnProcessor, type Speed } from "./pace.ts"

/** Positions of the context left empty. Prompts are counted to the token, so this is for the engine's own rounding. */
const SPARE_TOKENS = 8

/** What is evaluated and written to measure: at least 64 tokens by any tokenizer. */
const SAMPLE =
  "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo " +
  "sierra tango uniform victor whiskey xray yankee zulu one two three four five six seven eight nine ten eleven twelve " +
  "red orange yellow green blue violet black white grey brown north south east west spring summer autumn winter iron"
const SAMPLE_TOKENS = 64
const SAMPLE_STEPS = 8
const LONGEST_SAMPLE_MS = 3000

export class Writer {
  private readonly chat: Chat
  private readonly sequence: LlamaContextSequence
  private chunkTokens: number
  /** what every prompt begins with, and the instruction it was made from, once it is evaluated */
  private prefix: { instruction: string; tokens: Token[] } | undefined
  private grammar: { schema: string; compiled: LlamaGrammar } | undefined

  constructor(
    private readonly engine: NodeLlamaCpp,
    private readonly model: LlamaModel,
    private readonly context: LlamaContext,
    private readonly gate: Gate,
  ) {
    this.chat = openChat(engine, model)
    this.sequence = context.getSequence()
    this.chunkTokens = chunkOnProcessor(model.fileInsights.totalParameters)
  }

  /**
   * Evaluates what every prompt with this instruction begins with. Hybrid models cannot go back to a place in the middle
   * without a checkpoint there; where one is not needed, taking it does nothing.
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
    // from the first token on, whatever is there: so that the chunks are the same ones every time
    await this.sequence.clearHistory()
    await this.evaluate(tokens, 0, signal)
    await this.sequence.takeCheckpoint()
    this.prefix = { instruction, tokens }
  }

  /** Measures on top of the prefix, whose evaluation warmed the engine up, and takes back what it evaluated. */
  async measure(signal: AbortSignal): Promise<Speed> {
    const sample = this.model.tokenize(SAMPLE).slice(0, SAMPLE_TOKENS)
    const start = performance.now()
    await this.sequence.evaluateWithoutGeneratingNewTokens(sample.slice(0, -1))
    const evaluated = performance.now()
    let steps = -1
    let stepping = evaluated
    for await (const _token of this.sequence.evaluate(sample.slice(-1), { yieldEogToken: true })) {
      signal.throwIfAborted()
      // the first step is not timed: a GPU compiles for it
      if (++steps === 0) stepping = performance.now()
      else if (steps === SAMPLE_STEPS || performance.now() - stepping > LONGEST_SAMPLE_MS) break
    }
    const end = performance.now()
    await this.backToPrefix(signal)
    const speed = {
      prefill: ((sample.length - 1) / (evaluated - start)) * 1000,
      decode: (steps / (end - stepping)) * 1000,
    }
    if (this.model.llama.gpu) this.chunkTokens = chunkOnGpu(speed)
    return speed
  }

  /**
   * The answer to one document; the same request gives the same bytes, whatever came before it. Rejects with the
   * signal's reason within a chunk, or an `EngineError` BAD_REQUEST; another one can be written after either.
   */
  async write(request: Write, signal: AbortSignal): Promise<WriteReply> {
    const start = performance.now()
    const before = this.evaluatedTokens
    const grammar = await this.grammarOf(request.schema)
    try {
      await this.prepare(request.instruction, signal)
      await this.backToPrefix(signal)
      const { prompt, cutTokens } = this.fit(request)
      await this.sequence.adaptStateToTokens(prompt, false)
      const rest = await this.evaluate(prompt, this.chunkTokens, signal)
      const { text, outputTokens, firstAt } = await this.generate(rest, grammar, request.maxTokens, signal)
      return {
        text,
        ...readAnswer(text, request.schema),
        usage: { promptTokens: prompt.length, evaluatedTokens: firstAt - before, outputTokens, cutTokens },
        elapsedMs: performance.now() - start,
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof EngineError)) await this.forget()
      throw error
    }
  }

  private fit({ instruction, text, maxTokens }: Write) {
    const size = this.context.contextSize
    const fitted =
      maxTokens > 0 &&
      fitDocument(text, size - maxTokens - SPARE_TOKENS, (part) => this.chat.promptOf(instruction, part), this.model)
    if (fitted) return fitted
    throw new EngineError(
      "BAD_REQUEST",
      `an answer of ${maxTokens} tokens leaves no room for a document in a context of ${size}; ask for 1 to ${size / 4}`,
    )
  }

  /** Always to the same place, also where more of the next prompt is still there. */
  private async backToPrefix(signal: AbortSignal): Promise<void> {
    if (!this.prefix) return
    const { instruction, tokens } = this.prefix
    await this.sequence.adaptStateToTokens(tokens, false)
    if (this.sequence.nextTokenIndex === tokens.length) return
    // an odd document, such as an empty one, took the prefix's last tokens away at the seam
    this.prefix = undefined
    await this.prepare(instruction, signal)
  }

  /** Evaluates what is not in the state yet, chunk by chunk, but for the last tokens, at most `leave`; returns those. */
  private async evaluate(tokens: readonly Token[], leave: number, signal: AbortSignal): Promise<Token[]> {
    for (;;) {
      await this.gate.pass(signal)
      const done = this.sequence.nextTokenIndex
      if (tokens.length - done <= leave) return tokens.slice(done)
      await this.sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(done, done + this.chunkTokens))
    }
  }

  /** `rest` is the end of the prompt: its last token's result is the first token written. */
  private async generate(rest: Token[], grammar: LlamaGrammar, maxTokens: number, signal: AbortSignal) {
    const { model } = this
    const grammarEvaluationState = new this.engine.LlamaGrammarEvaluationState({ model, grammar })
    const written: Token[] = []
    let text = ""
    let firstAt = 0
    // the seed has no effect at temperature 0, and its default is the clock
    for await (const token of this.sequence.evaluate(rest, { temperature: 0, seed: 1, grammarEvaluationState })) {
      firstAt ||= this.evaluatedTokens
      written.push(token)
      text = model.detokenize(written)
      // after the last bracket the grammar allows only the end, which would cost one more step
      if (written.length >= maxTokens || isWhole(text)) break
      await this.gate.pass(signal)
    }
    return { text, outputTokens: written.length, firstAt: firstAt || this.evaluatedTokens }
  }

  private async grammarOf(schema: Write["schema"]): Promise<LlamaGrammar> {
    const key = JSON.stringify(schema)
    if (this.grammar?.schema !== key) {
      const compiled = await this.model.llama.createGrammar({ grammar: grammarFor(schema) }).catch((error: unknown) => {
        throw new EngineError("BAD_REQUEST", "schema: too large for a grammar; make its bounds smaller", {
          cause: error,
        })
      })
      this.grammar = { schema: key, compiled }
    }
    return this.grammar.compiled
  }

  /** After a failure of the engine itself nobody knows what its state holds. */
  private async forget(): Promise<void> {
    this.prefix = undefined
    await this.sequence.clearHistory().catch(() => {})
  }

  /** As the engine counts them: what it really evaluated, not what was asked of it. */
  private get evaluatedTokens(): number {
    const { usedInputTokens, usedOutputTokens } = this.sequence.tokenMeter
    return usedInputTokens + usedOutputTokens
  }
}

function isWhole(text: string): boolean {
  if (!text.endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
