// The HUD with hostile text in every field it quotes, in every slot and size: always one block of known lines. The same for the
// facts that a compaction gets.

import { expect, setDefaultTimeout, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { compactionFacts } from "../../src/hud/compaction-facts.ts"
import { newHudState, nextHud } from "../../src/hud/hud.ts"
import { renderHud } from "../../src/hud/render.ts"
import { SECTIONS, sectionsOf } from "../../src/hud/sections.ts"
import { SLOTS } from "../../src/hud/slots.ts"
import { noSignals } from "../../src/session/facts.ts"
import { findingsOf } from "../../src/session/findings.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import { hostileSession, ledgerOf } from "../support/hostile/channels.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfHud, faultOfLine } from "../support/hostile/grammar.ts"
import { ROOT } from "../support/session.ts"

// megabyte inputs on a busy machine
setDefaultTimeout(120_000)

/** A line of the facts for a compaction. */
const FACT =
  /^- (?:the user asked: "[^"]*"$|todo list: |failing since call \d+: `|result of |files (?:edited|read|deleted): |changed on disk since )/
const AROUND = { contextLimit: 20_000, folded: { steps: 12, outputs: 3, savedTokens: 4_000 } }

for (const { id, tries, text } of CORPUS)
  test(`${id}: the HUD and a compaction's facts keep their form when it tries to ${tries}`, () => {
    const { messages } = hostileSession(text)
    const { facts } = ledgerOf(messages)
    // a part that cannot be read is skipped, with any failure in it
    expect(facts.events).toBe(messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "tool")).length)
    const signals = noSignals()
    for (const slot of SLOTS) {
      const options = { budgetTokens: slot === "tail" ? 90 : 250, sections: SECTIONS }
      const { hud } = nextHud(conversationOf(messages), slot, {
        facts,
        signals,
        context: AROUND,
        options,
        hud: newHudState(),
        hudCost: { hud: 0, messages: 1e9 },
      })
      expect(hud && faultOfHud(hud.text)).toBeUndefined()
      if (hud) expect(estimateTokens(hud.text)).toBeLessThanOrEqual(options.budgetTokens * 1.3)
    }
    // each section by itself, so that none is left out for lack of space
    for (const section of sectionsOf(facts, signals, AROUND)) {
      const alone = renderHud([section], 100_000, 9, 3)
      expect(alone && faultOfHud(alone.text)).toBeUndefined()
    }
    const [first, ...lines] = (
      compactionFacts(facts, signals, findingsOf(conversationOf(messages), createEnv(ROOT))) ?? ""
    ).split("\n")
    expect(first).toStartWith("Facts about this session, collected from its tool calls by the plugin hudfold.")
    for (const line of lines) {
      expect(faultOfLine(line)).toBeUndefined()
      expect(line).toMatch(FACT)
      expect(line.length).toBeLessThan(12_000)
    }
  })
