import { expect, test } from "bun:test"
import { PRICE_NAMES, priceNamed } from "../../src/replay/pricing.ts"

test("every row of the table can be named, in any case", () => {
  for (const name of PRICE_NAMES) expect(priceNamed(name.toUpperCase(), {})?.tariff.row).toBe(name)
})

test.each([
  ["anthropic", "Anthropic"],
  ["azure", "OpenAI"],
  ["google", "Google Gemini"],
])("the provider %s is reckoned with the row %s", (name, row) => {
  expect(priceNamed(name, {})).toMatchObject({ providerID: name, tariff: { row, usdPerMillion: 0 } })
})

test("a name that no row is for gives nothing, be it as long as it will", () => {
  for (const name of ["", "anthropics", "unknown", "toString"]) expect(priceNamed(name, {})).toBeUndefined()
})

test("the user's own prices go over the row's", () => {
  expect(priceNamed("Anthropic", { read: 0.5 })?.tariff).toMatchObject({ row: "Anthropic", read: 0.5, write: 1.25 })
})
