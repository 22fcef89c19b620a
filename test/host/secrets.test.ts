// Secrets of every kind, by every way into a session: neither a secret nor half of one is in anything the plugin itself sends,
// asks a model, stores, logs or shows. Recalled outputs have them, since the session has them.

import { afterAll, expect, test } from "bun:test"
import { searcher } from "../support/planted.ts"
import { printedOf } from "../support/secret-places.ts"
import { play } from "../support/secret-session.ts"
import { sized } from "../support/size.ts"

const played = await play()
afterAll(() => played.remove())

const places = new Map([...played.places, ...(await printedOf(played, sized(3, 20)))])
const search = searcher(played.planted)
const found = new Map([...places].map(([place, text]) => [place, search(text)]))

test.each(played.planted.map(({ name }) => name))("%s is nowhere", (name) => {
  expect([...found].flatMap(([place, names]) => (names.has(name) ? [place] : []))).toEqual([])
})

test(`0 of ${played.planted.length} leak to any place, and every place had content to search`, () => {
  expect(new Set([...found.values()].flatMap((names) => [...names]))).toEqual(new Set())
  expect(played.planted.length).toBeGreaterThan(sized(120, 200, 200))
  expect(played.folds).toBeGreaterThan(sized(50, 80, 80))
  expect(played.asked).toBeGreaterThan(5)
  expect([...places.keys()].filter((place) => place.startsWith("the file"))).toContain("the file hud.db")
  const held = ["what was sent", "the compaction", "the file hud.db", "the report", "the bundle", "hudfold inspect"]
  for (const place of held) expect(places.get(place)?.length, place).toBeGreaterThan(500)
})

test("the search finds all of them in the session itself", () => {
  // a permission is asked for by an event alone
  const inSession = played.planted.filter(({ way }) => way !== "a permission")
  expect(search(JSON.stringify([played.session.messages, played.title])).size).toBe(inSession.length)
})

test("recall returns outputs verbatim, with their secrets", () => {
  expect(played.recalled.length).toBe(played.folds)
  for (const { answer, original } of played.recalled) expect(answer).toBe(original)
  expect(search(played.recalled.map(({ answer }) => answer).join("\n")).size).toBeGreaterThan(sized(30, 50, 50))
})
