// The prompt cache of Anthropic's API, by its documented rule: an entry is written only at the end of a block that carries
// a mark, and a request finds only entries that end at most 20 blocks before one of its own marks, the mark's block
// counted (platform.claude.com/docs/en/build-with-claude/prompt-caching). The entries' lifetime is left out: no script
// pauses for five minutes.

import { createHash } from "node:crypto"
import { type Body, type Usage, withoutMarks } from "./request.ts"

/** Blocks that are looked at from each mark backwards, the mark's own included. */
const LOOKBACK = 20
/** Shortest prefix that is kept, in tokens. */
const LEAST_TOKENS = 1024
/** A request with more marks than this is refused. */
const MOST_MARKS = 4

export type MarkedCache = {
  /** What the request reads and writes, and the entries it leaves. `tokensOf` estimates the tokens of a text. */
  count(body: Body, tokensOf: (text: string) => number): Usage
}

type Block = { hash: string; tokens: number; isMarked: boolean }

/** One cache for all sessions, as it is for all requests of one account. */
export function newMarkedCache(): MarkedCache {
  const entries = new Set<string>()
  return {
    count(body, tokensOf) {
      const blocks = blocksOf(body, tokensOf)
      const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
      if (marks.length > MOST_MARKS) throw new Error(`${marks.length} marks, of which ${MOST_MARKS} are allowed`)
      const upTo = (count: number) => blocks.slice(0, count).reduce((sum, { tokens }) => sum + tokens, 0)
      let found = 0
      for (const mark of marks)
        for (let at = mark; at >= 0 && mark - at < LOOKBACK; at--)
          if (entries.has(blocks[at]?.hash ?? "")) found = Math.max(found, at + 1)
      for (const mark of marks) if (upTo(mark + 1) >= LEAST_TOKENS) entries.add(blocks[mark]?.hash ?? "")
      const total = upTo(blocks.length)
      const cacheRead = upTo(found)
      const kept = Math.max(cacheRead, upTo((marks.at(-1) ?? -1) + 1))
      const isKept = kept >= LEAST_TOKENS
      const cacheWrite = isKept ? kept - cacheRead : 0
      return { input: total - cacheRead - cacheWrite, output: 0, cacheRead, cacheWrite }
    },
  }
}

/** Tools, system prompt and messages block by block, in the order in which they are cached. */
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
