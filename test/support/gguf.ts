// Writes a tiny language model as a GGUF file: llama's architecture, seeded random weights, a tokenizer of its own. It
// says nothing sensible, but it loads, evaluates and stops in the real llama.cpp, so that no test needs a download.

import { writeFile } from "node:fs/promises"

const WIDTH = 64
const HEADS = 4
const KEY_HEADS = 2
const FEED_FORWARD = 128
const ALIGNMENT = 32

/** Numbers of the GGUF format, version 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
const VALUE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const
const FLOAT32_TENSOR = 0
const TOKEN = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const

export type TinyModel = {
  /** of the weights; default 1. Another seed is another model with other answers. */
  seed?: number
  /** context it claims to be trained for, in tokens; default 8192 */
  contextTokens?: number
  /** default 2; more make it slower, at 147 kB each */
  layers?: number
  /**
   * - `chatml` (the default): system, user and assistant turns
   * - `gemma`: no system turn, as Google's Gemma
   * - `own`: a format nobody knows, that opens every answer with a thought
   * - `none`: a base model, without any template
   */
  template?: "chatml" | "gemma" | "own" | "none"
  /** tokens of their own beside those of the format: marks of other formats, as a model may have them */
  marks?: {
    /** that only the format itself may write */
    control?: readonly string[]
    /** that llama.cpp finds in any text, whatever it is told */
    userDefined?: readonly string[]
  }
  /**
   * What is wrong with the file; default nothing.
   * - `magic`: it does not begin with GGUF
   * - `html`: a page that says the model was not found, as a web server sends with status 200
   * - `empty`: no byte at all
   * - `version`: of a format that does not exist
   * - `header`: cut inside the metadata
   * - `truncated`: the last quarter is missing
   * - `nan`: weights that are no numbers; it loads
   */
  fault?: "magic" | "html" | "empty" | "version" | "header" | "truncated" | "nan"
}

/** About 500 kB at the default options; the same bytes for the same options on every runtime. */
export async function writeTinyModel(path: string, options: TinyModel = {}): Promise<void> {
  await writeFile(path, spoil(encodeModel(options), options.fault))
}

function spoil(file: Buffer, fault: TinyModel["fault"]): Buffer {
  switch (fault) {
    case "magic":
      return Buffer.concat([Buffer.from("GGML"), file.subarray(4)])
    case "html":
      return Buffer.from(
        "<!DOCTYPE html>\n<html><head><title>Not found</title></head><body>no such model</body></html>\n",
      )
    case "empty":
      return Buffer.alloc(0)
    case "version":
      return Buffer.concat([file.subarray(0, 4), uint32(99), file.subarray(8)])
    case "header":
      return file.subarray(0, 700)
    case "truncated":
      return file.subarray(0, Math.floor(file.length * 0.75))
    default:
      return file
  }
}

function encodeModel(options: TinyModel): Buffer {
  const { seed = 1, contextTokens = 8192, layers = 2, template = "chatml", fault } = options
  const vocabulary = tokens(options.marks)
  const id = (text: string) => vocabulary.findIndex((token) => token.text === text)
  const end = { chatml: "<|im_end|>", own: "<|done|>", gemma: "<end_of_turn>", none: "</s>" }[template]

  const metadata: [string, Buffer][] = [
    ["general.architecture", stringValue("llama")],
    ["general.name", stringValue("Tiny")],
    ["llama.context_length", uint32Value(contextTokens)],
    ["llama.embedding_length", uint32Value(WIDTH)],
    ["llama.block_count", uint32Value(layers)],
    ["llama.feed_forward_length", uint32Value(FEED_FORWARD)],
    ["llama.attention.head_count", uint32Value(HEADS)],
    ["llama.attention.head_count_kv", uint32Value(KEY_HEADS)],
    ["llama.attention.layer_norm_rms_epsilon", float32Value(1e-5)],
    ["llama.rope.dimension_count", uint32Value(WIDTH / HEADS)],
    ["llama.vocab_size", uint32Value(vocabulary.length)],
    ["tokenizer.ggml.model", stringValue("llama")],
    [
      "tokenizer.ggml.tokens",
      arrayValue(
        VALUE.string,
        vocabulary.map((token) => string(token.text)),
      ),
    ],
    [
      "tokenizer.ggml.scores",
      arrayValue(
        VALUE.float32,
        vocabulary.map((token) => float32(token.score)),
      ),
    ],
    [
      "tokenizer.ggml.token_type",
      arrayValue(
        VALUE.int32,
        vocabulary.map((token) => uint32(token.type)),
      ),
    ],
    ["tokenizer.ggml.unknown_token_id", uint32Value(id("<unk>"))],
    ["tokenizer.ggml.bos_token_id", uint32Value(id("<s>"))],
    ["tokenizer.ggml.eos_token_id", uint32Value(id(end))],
    ["tokenizer.ggml.add_bos_token", boolValue(true)],
    ["tokenizer.ggml.add_space_prefix", boolValue(false)],
  ]
  if (template !== "none") metadata.push(["tokenizer.chat_template", stringValue(TEMPLATES[template])])

  const weights = tensors(vocabulary.length, layers)
  const next = randomWeights(seed)
  let offset = 0
  const infos: Buffer[] = []
  const data: Buffer[] = []
  for (const { name, shape, ones } of weights) {
    const values = Float32Array.from({ length: shape.reduce((total, side) => total * side, 1) }, ones ? () => 1 : next)
    if (name === "output.weight") hushSpecial(values, vocabulary)
    if (fault === "nan") values.fill(Number.NaN)
    const bytes = padded(Buffer.from(values.buffer))
    infos.push(string(name), uint32(shape.length), ...shape.map(uint64), uint32(FLOAT32_TENSOR), uint64(offset))
    data.push(bytes)
    offset += bytes.length
  }

  const header = [Buffer.from("GGUF"), uint32(3), uint64(weights.length), uint64(metadata.length)]
  const pairs = metadata.flatMap(([key, value]) => [string(key), value])
  return Buffer.concat([padded(Buffer.concat([...header, ...pairs, ...infos])), ...data])
}

function tensors(words: number, layers: number): { name: string; shape: number[]; ones?: true }[] {
  const keys = (WIDTH / HEADS) * KEY_HEADS
  const blocks = Array.from({ length: layers }, (_, layer) => [
    { name: `blk.${layer}.attn_norm.weight`, shape: [WIDTH], ones: true as const },
    { name: `blk.${layer}.attn_q.weight`, shape: [WIDTH, WIDTH] },
    { name: `blk.${layer}.attn_k.weight`, shape: [WIDTH, keys] },
    { name: `blk.${layer}.attn_v.weight`, shape: [WIDTH, keys] },
    { name: `blk.${layer}.attn_output.weight`, shape: [WIDTH, WIDTH] },
    { name: `blk.${layer}.ffn_norm.weight`, shape: [WIDTH], ones: true as const },
    { name: `blk.${layer}.ffn_gate.weight`, shape: [WIDTH, FEED_FORWARD] },
    { name: `blk.${layer}.ffn_up.weight`, shape: [WIDTH, FEED_FORWARD] },
    { name: `blk.${layer}.ffn_down.weight`, shape: [FEED_FORWARD, WIDTH] },
  ])
  return [
    { name: "token_embd.weight", shape: [WIDTH, words] },
    ...blocks.flat(),
    { name: "output_norm.weight", shape: [WIDTH], ones: true },
    { name: "output.weight", shape: [WIDTH, words] },
  ]
}

/** Evenly between -0.25 and 0.25. No Math.log or Math.cos: their last digits differ between runtimes. */
function randomWeights(seed: number): () => number {
  let state = (seed * 2654435761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return ((state >>> 0) / 2 ** 32 - 0.5) / 2
  }
}

/** Without it a random model writes bytes that are no text, and marks of the chat template that show as nothing. */
function hushSpecial(output: Float32Array, vocabulary: ReturnType<typeof tokens>): void {
  for (const [id, { type }] of vocabulary.entries())
    if (type !== TOKEN.normal) output.fill(0, id * WIDTH, (id + 1) * WIDTH)
}

/** In the manner of SentencePiece: every byte, the printable characters, and pairs, of which an earlier one wins. */
function tokens({
  control: more = [],
  userDefined = [],
}: NonNullable<TinyModel["marks"]> = {}): { text: string; score: number; type: number }[] {
  const control = [
    "<s>",
    "</s>",
    "<|im_start|>",
    "<|im_end|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<|turn|>",
    "<|done|>",
    "<think>",
    "</think>",
  ]
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`)
  const characters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
  const pairs = [
    "th",
    "er",
    "in",
    "on",
    "re",
    "st",
    "en",
    "es",
    "or",
    "at",
    "▁a",
    "▁t",
    "▁th",
    "▁the",
    "▁in",
    '":',
    '","',
  ]
  return [
    { text: "<unk>", score: 0, type: TOKEN.unknown },
    ...[...control, ...more].map((text) => ({ text, score: 0, type: TOKEN.control })),
    ...userDefined.map((text) => ({ text, score: 0, type: TOKEN.userDefined })),
    ...bytes.map((text) => ({ text, score: 0, type: TOKEN.byte })),
    ...["▁", ...characters].map((text) => ({ text, score: -1000, type: TOKEN.normal })),
    ...pairs.map((text, rank) => ({ text, score: -1 - rank, type: TOKEN.normal })),
  ]
}

const turns = (start: string, end: string) =>
  `{% for message in messages %}{{'${start}' + message['role'] + '\n' + message['content'] + '${end}' + '\n'}}{% endfor %}` +
  `{% if add_generation_prompt %}{{ '${start}assistant\n' }}{% endif %}`
const TEMPLATES = {
  chatml: turns("<|im_start|>", "<|im_end|>"),
  own: `${turns("<|turn|>", "<|done|>")}{% if add_generation_prompt %}{{ '<think>\n' }}{% endif %}`,
  gemma:
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" +
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}" +
    "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}" +
    "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}",
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([uint64(bytes.length), bytes])
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)])
}

const uint32Value = (value: number) => Buffer.concat([uint32(VALUE.uint32), uint32(value)])
const float32Value = (value: number) => Buffer.concat([uint32(VALUE.float32), float32(value)])
const boolValue = (value: boolean) => Buffer.concat([uint32(VALUE.bool), Buffer.from([value ? 1 : 0])])
const stringValue = (text: string) => Buffer.concat([uint32(VALUE.string), string(text)])
const arrayValue = (type: number, items: Buffer[]) =>
  Buffer.concat([uint32(VALUE.array), uint32(type), uint64(items.length), ...items])
