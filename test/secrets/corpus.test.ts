// The secrets of the documentation of many tools, by every way in, searched for in every way out. `npm run prove -- secrets`
// plants more than 10,000; `npm test` plants every other form once.

import { expect, test } from "bun:test"
import { searcher } from "../support/planted.ts"
import { printedOf } from "../support/secret-places.ts"
import { type Played, play, WAYS } from "../support/secret-session.ts"
import { sized } from "../support/size.ts"
import { DOCUMENTED_KINDS, documentedPlants } from "./kinds.ts"

/** Sessions that are played; each has every form once, the one of `npm test` every other form. */
const SESSIONS = sized(1, 38)
/** Consecutive characters of a value that count as the value. */
const TELLING = 8
/** The hash of a fold in the store, of which eight digits can be those of a hexadecimal value by chance. */
const FOLD_HASH = /"hash":"[0-9a-f]{32}"/g
/** The most that may come out, of a thousand. */
const MAX_OF_1000 = 1

const ways = Object.keys(WAYS)
const out: string[] = []
let planted = 0
let places = 0
let held = 0

for (let session = 1; session <= SESSIONS; session++) {
  const plants = documentedPlants(session).filter((_, n) => n % sized(2, 1, 1) === 0)
  // over as many sessions as there are ways, every form comes by every way
  const plan = ways.map((way, at) => [way, plants.filter((_, n) => (n + session) % ways.length === at)] as const)
  const played = await play(plan)
  try {
    await look(played)
  } finally {
    played.remove()
  }
  if (SESSIONS > 1) process.stderr.write(`${planted} planted, ${out.length} out\n`)
}

/** Every string in a value. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

async function look(played: Played): Promise<void> {
  const found = new Map([...played.places, ...(await printedOf(played, 2))])
  const search = searcher(played.planted, TELLING)
  held += search(
    `${played.session.messages.flatMap(({ parts }) => parts.flatMap(stringsIn)).join("\n")}\n${played.title}`,
  ).size
  const reached = new Map<string, string[]>()
  for (const [place, text] of found)
    for (const name of search(text.replace(FOLD_HASH, ""))) reached.set(name, [...(reached.get(name) ?? []), place])
  planted += played.planted.length
  places = Math.max(places, found.size)
  for (const { name, text } of played.planted) {
    const at = reached.get(name)
    if (at) out.push(`${name}, in ${at.join(", ")}: ${JSON.stringify(text)}`)
  }
}

test(`${planted} secrets of ${DOCUMENTED_KINDS} kinds by ${ways.length} ways: at most ${MAX_OF_1000} in 1,000 come out`, () => {
  process.stdout.write(
    `${planted} planted, ${DOCUMENTED_KINDS} kinds, ${ways.length} ways in, ${places} places searched: ${out.length} out, ${((1000 * out.length) / planted).toFixed(2)} in 1,000\n${out.map((one) => `  ${one}\n`).join("")}`,
  )
  // by a permission's event alone, nothing comes into the session
  expect(held).toBeGreaterThan(planted * 0.9)
  expect(planted).toBeGreaterThan(sized(100, 10_000, 200))
  expect(out.length).toBeLessThanOrEqual((planted * MAX_OF_1000) / 1000)
})
