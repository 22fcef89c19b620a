// The prompt cache of Anthropic's API, as documented: an entry is written only at the end of a block that carries a mark, and
// a request finds only entries that end within the 20 blocks up to one of its own marks, the marked block included
// (platform.claude.com/docs/en/build-with-claude/prompt-caching). Entries do not expire here: no script pauses for five
// minutes.

import { createHash } from "node:crypto"
import { type Body, type Usage, withoutMarks } from "./request.ts"

/** Number of blocks searched backwards from each mark, the marked block included. */
const LOOKBACK_BLOCKS = 20
/** Shortest prefix that is cached. */
const MIN_TOKENS = 1024
/** A request with more marks is rejected. */
const MAX_MARKS = 4

export type MarkedCache = {
  /** What the request reads and writes; stores its entries. `tokensOf` estimates the tokens of a text. */
  count(body: Body, tokensOf: (text: string) => number): Usage
}

type Block = { hash: string; tokens: number; isMarked: boolean }

/** One cache for all sessions, as for all requests of one account. */
export function newMarkedCache(): MarkedCache {
  const entries = new Set<string>()
  return {
    count(body, tokensOf) {
      const blocks = blocksOf(body, tokensOf)
      const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
      if (marks.length > MAX_MARKS) throw new Error(`${marks.length} marks, at most ${MAX_MARKS} are allowed`)
      const upTo = (count: number) => blocks.slice(0, count).reduce((sum, { tokens }) => sum + tokens, 0)
      let found = 0
      for (const mark of marks)
        for (let at = mark; at >= 0 && mark - at < LOOKBACK_BLOCKS; at--)
          if (entries.has(blocks[at]?.hash ?? "")) found = Math.max(found, at + 1)
      for (const mark of marks) if (upTo(mark + 1) >= MIN_TOKENS) entries.add(blocks[mark]?.hash ?? "")
      const total = upTo(blocks.length)
      const cacheRead = upTo(found)
      const kept = Math.max(cacheRead, upTo((marks.at(-1) ?? -1) + 1))
      const isKept = kept >= MIN_TOKENS
      const cacheWrite = isKept ? kept - cacheRead : 0
      return { input: total - cacheRead - cacheWrite, output: 0, cacheRead, cacheWrite }
    },
  }
}

/** Tools, system prompt and messages block by block, in cache order. */
function blocksOf(
  { model, tools = [], system = [], messages = [] }: Body,
  tokensOf: (text: string) => number,
): Block[] {
  const texts = typeof system === "string" ? [system] : (system as unknown[])
  const contents = messages.flatMap((message) => {
    const { role, content } = message as { role?: string; content?: unknown }
    return (Array.isArray(content) ? content : [content]).map((block) => ({ role, block }))
  })
  let hash = model ?? ""
  return [...tools, ...texts, ...contents].map((part) => {
    const json = JSON.stringify(withoutMarks(part))
    hash = createHash("sha256").update(`${hash}\n${json}`).digest("hex")
    return { hash, tokens: tokensOf(json), isMarked: JSON.stringify(part).includes('"cache_control":{') }
  })
}
