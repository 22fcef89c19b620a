import { expect, test } from "bun:test"
import { PRICE_NAMES, priceNamed } from "../../src/replay/prices.ts"

test("every row of the table can be named, ignoring case", () => {
  for (const name of PRICE_NAMES) expect(priceNamed(name.toUpperCase(), {})?.pricing.row).toBe(name)
})

test.each([
  ["anthropic", "Anthropic"],
  ["azure", "OpenAI"],
  ["google", "Google Gemini"],
])("the provider %s gets the prices of the row %s", (name, row) => {
  expect(priceNamed(name, {})).toMatchObject({ providerID: name, pricing: { row, usdPerMillion: 0 } })
})

test("a name that matches no row has no prices, however long it is", () => {
  for (const name of ["", "anthropics", "unknown", "toString"]) expect(priceNamed(name, {})).toBeUndefined()
})

test("the user's own prices override the row's", () => {
  expect(priceNamed("Anthropic", { read: 0.5 })?.pricing).toMatchObject({ row: "Anthropic", read: 0.5, write: 1.25 })
})
