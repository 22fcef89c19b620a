// Folds are written between requests, for the next one. They are those that it would write itself, and when there was no
// time for that, it does.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { SECTIONS } from "../../src/hud/sections.ts"
import { newSessionState, type RequestOptions } from "../../src/request/request.ts"
import { prepare, type Request } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { bash, ROOT, read, SessionBuilder } from "../support/session.ts"

const OPTIONS: RequestOptions = {
  hud: { enabled: false, slot: "tail", budgetTokens: 250, sections: SECTIONS },
  fold: { enabled: true },
  isProtected: () => false,
}
const AROUND = { nowMs: 1_000_000, model: { providerID: "p", modelID: "m" }, pricing: PRICING }

/** Plays a session in which a cut comes to pay; `between` is what happens between two requests. */
function play(between: (request: Request, session: SessionBuilder) => void) {
  const hashed = { count: 0 }
  const { hash, ...rest } = createEnv(ROOT)
  // every fold that is written is hashed
  const env = {
    ...rest,
    hash(text: string) {
      hashed.count++
      return hash(text)
    },
  }
  const state = newSessionState(env)
  const session = new SessionBuilder().user("go through all of the shop and look at what is in it")
  const cuts: { request: number; ids: string[]; texts: string[]; hashed: number }[] = []
  for (let number = 1; number <= 90; number++) {
    hashed.count = 0
    const request = prepare(session.fresh(), state, AROUND, OPTIONS, env)
    const spent = hashed.count
    if (request.folded.length > 0)
      cuts.push({
        request: number,
        ids: request.folded.map(({ partID }) => partID),
        // the builder gives every session other call ids, from which recall ids are made
        texts: request.folded.map(({ text }) => text.replace(/^folded r\w{7}/, "folded")),
        hashed: spent,
      })
    request.commit()
    between(request, session)
    const listed = Array.from({ length: 60 }, (_, at) => `const part${number}Of${at} = openShop(${at})`).join("\n")
    session.assistant([read(`src/part-${number}.ts`, listed), bash(`make part-${number}`, `part ${number} made`)])
  }
  return cuts
}

const finish = (request: Request) => {
  for (const _ of request.writeAhead());
}

describe("folds written ahead", () => {
  const plain = play(() => {})
  const ahead = play(finish)

  test("come at the same requests, for the same steps", () => {
    expect(plain.length).toBeGreaterThan(1)
    expect(plain[0]?.ids.length).toBeGreaterThan(5)
    expect(ahead.map(({ request, ids }) => [request, ids])).toEqual(plain.map(({ request, ids }) => [request, ids]))
  })

  test("are not written again by the request that sends them", () => {
    for (const [index, { hashed }] of ahead.entries()) expect(hashed).toBeLessThan((plain[index]?.hashed ?? 0) / 2)
  })

  test("say the same except for the names", () => {
    const said = (text: string) => text.replace(/ · .*$/gm, "")
    expect(ahead.flatMap(({ texts }) => texts.map(said))).toEqual(plain.flatMap(({ texts }) => texts.map(said)))
  })

  test("stopped halfway, leave all of it to the request", () => {
    const half = play((request) => {
      const work = request.writeAhead()
      for (let left = 3; left > 0; left--) work.next()
    })
    expect(half).toEqual(plain)
  })

  test("of content that changed since are not used", () => {
    const [first] = plain
    if (!first) throw new Error("no cut")
    const changed = "another output than before"
    const cuts = play((request, session) => {
      finish(request)
      // after the last request before the cut
      if (session.messages.length !== first.request - 1) return
      const part = session.messages[1]?.parts.findLast(({ type }) => type === "tool")
      if (part?.state) part.state.output = changed
    })
    expect(cuts[0]?.request).toBe(first.request)
    expect(cuts[0]?.texts.join("\n")).toContain(changed)
  })
})
