// The HUD with hostile text in every field it quotes: one block of known lines, whatever came in, in every slot and at
// every size; and the facts that a compaction is handed.

import { expect, setDefaultTimeout, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { findingsOf } from "../../src/digest/findings.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { brief } from "../../src/hud/brief.ts"
import { newHudState, nextHud } from "../../src/hud/hud.ts"
import { render } from "../../src/hud/render.ts"
import { SECTIONS, sectionsOf } from "../../src/hud/sections.ts"
import { SLOTS } from "../../src/hud/slots.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import { hostileSession, hostileSignals, ledgerOf } from "../support/hostile/channels.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfHud, faultOfLine } from "../support/hostile/grammar.ts"
import { ROOT } from "../support/session.ts"

// inputs of a megabyte on a busy machine
setDefaultTimeout(120_000)

/** A line of the facts for a compaction. */
const FACT =
  /^- (?:the user asked: "[^"]*"$|todo list: |failing since call \d+: `|result of |files (?:edited|read|deleted): |changed on disk since )/
const AROUND = { contextLimit: 20_000, folded: { outputs: 3, savedTokens: 4_000 } }

for (const { id, tries, text } of CORPUS)
  test(`${id}: the HUD and a compaction's facts keep their form when it tries to ${tries}`, () => {
    const { messages } = hostileSession(text)
    const { facts } = ledgerOf(messages)
    // a part that cannot be read is left out, and a failure in it untold
    expect(facts.skipped).toBe(0)
    const signals = hostileSignals(text)
    for (const slot of SLOTS) {
      const options = { budgetTokens: slot === "tail" ? 90 : 250, sections: SECTIONS }
      const { hud } = nextHud(conversationOf(messages), facts, signals, AROUND, slot, options, newHudState())
      expect(hud && faultOfHud(hud.text)).toBeUndefined()
      if (hud) expect(estimateTokens(hud.text)).toBeLessThanOrEqual(options.budgetTokens * 1.3)
    }
    // each section by itself: one that did not fit hides nothing
    for (const section of sectionsOf(facts, signals, AROUND)) {
      const alone = render([section], 100_000, 9, 3)
      expect(alone && faultOfHud(alone.text)).toBeUndefined()
    }
    const [first, ...lines] = (
      brief(facts, signals, findingsOf(conversationOf(messages), createEnv(ROOT))) ?? ""
    ).split("\n")
    expect(first).toStartWith("Facts about this session, collected from its tool calls by the plugin hudfold.")
    for (const line of lines) {
      expect(faultOfLine(line)).toBeUndefined()
      expect(line).toMatch(FACT)
      expect(line.length).toBeLessThan(12_000)
    }
  })
