// Chooses the names that stand in place of what is folded. Agents rarely recall what was taken away; they go on with the
// names they see. So a cut spends its tokens on the names that are most likely to be used and stand nowhere else.

import { writtenIn } from "../session/arguments.ts"
import type { Message } from "../session/conversation.ts"
import { fingerprint } from "../session/entry.ts"
import { renew } from "../system/values.ts"
import { namesIn } from "../text/names.ts"
import { redact } from "../text/redact/redact.ts"
import { own } from "../text/sanitize.ts"

/** A line that can show names of what is folded. */
export type NameSource = {
  /** each once */
  readonly names: Iterable<string>
  /** Whether it is still a name when the secrets are removed, which takes up to a millisecond. Absent: all are. */
  isSafe?: ((name: string) => boolean) | undefined
}

export type NameContext = {
  /** texts that stay in the request; a name in them need not be repeated */
  kept: readonly string[]
  /** names in what the agent wrote, and how many of its messages use them */
  used: ReadonlyMap<string, number>
}

/** Tokens of names per cut: a share of what is folded, and a maximum. */
export const NAMES_SHARE = 0.1
export const MAX_NAMES_TOKENS = 600
const CHARS_PER_TOKEN = 4
/** Bytes of the request that one cut searches for names, over all names: up to a hundredth of a second. */
const MAX_SEARCHED_BYTES = 100_000_000

/** Newest lines of a cut whose names are looked at. Only the first cut of a long session has more. */
const MAX_NAMED_LINES = 200

/** Characters that cost as much as one use more is worth: a long name leaves less room for others, and may be a random string. */
const CHARS_PER_USE = 8

/**
 * The names chosen for each line, those first that most calls and messages use. `lines` are in order; `foldedTokens` is the
 * size of all that is folded.
 */
export function chooseNames<Line extends NameSource>(
  lines: readonly Line[],
  foldedTokens: number,
  { kept, used }: NameContext,
): ReadonlyMap<Line, readonly string[]> {
  const found = new Map<string, { worth: number; within: Line[] }>()
  for (const line of lines.slice(-MAX_NAMED_LINES))
    for (const name of line.names) {
      const known = found.get(name)
      if (known) {
        known.worth++
        known.within.push(line)
      } else found.set(name, { worth: 1 + (used.get(name) ?? 0) - name.length / CHARS_PER_USE, within: [line] })
    }
  // in bytes, where Bun searches several times faster than in a string
  const shown = Buffer.from(kept.join("\n"))
  const chosen = new Map<Line, string[]>()
  let searched = 0
  let left = Math.min(MAX_NAMES_TOKENS, foldedTokens * NAMES_SHARE) * CHARS_PER_TOKEN
  for (const [name, { within }] of [...found].sort(([, one], [, other]) => other.worth - one.worth)) {
    if (left <= 0 || searched > MAX_SEARCHED_BYTES) break
    searched += shown.length
    // what looks like a secret would only stand there redacted
    if (shown.includes(name) || redact(name) !== name) continue
    // the newest line is where the agent last saw it
    const at = within.findLast(({ isSafe }) => isSafe?.(name) !== false)
    if (!at) continue
    left -= name.length + 1
    chosen.set(at, [...(chosen.get(at) ?? []), name])
  }
  return chosen
}

const MAX_USED_MESSAGES = 200
/** The names in what the agent wrote, by message, of the steps read last in all sessions. */
const namesByMessage = new Map<string, { print: number; names: readonly string[] }>()
const MAX_REMEMBERED_MESSAGES = 2 * MAX_USED_MESSAGES

/** The names in what the agent wrote, and how many of the newest messages use them. */
export function namesUsed(messages: readonly Message[]): Map<string, number> {
  const used = new Map<string, number>()
  for (const message of messages.slice(-MAX_USED_MESSAGES))
    if (message.kind === "step") for (const name of namesWritten(message)) used.set(name, (used.get(name) ?? 0) + 1)
  return used
}

/** The names in what the agent wrote in a step. Remembered as long as the step is the same. */
export function namesWritten(message: Message): readonly string[] {
  const print = fingerprint(message)
  const known = namesByMessage.get(message.id)
  if (known?.print === print) return known.names
  // copies, since these are kept longer than the texts
  const names = [...namesIn(writtenIn(message).join("\n"))].map(own)
  renew(namesByMessage, message.id, { print, names }, MAX_REMEMBERED_MESSAGES)
  return names
}
