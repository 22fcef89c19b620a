// Which names stand in place of what is folded.

import { expect, test } from "bun:test"
import { chooseNames, type NameContext } from "../../src/fold/names.ts"
import { withNames } from "../../src/fold/record.ts"
import { namesIn } from "../../src/text/names.ts"

const NOTHING: NameContext = { kept: [], used: new Map() }
const MANY_TOKENS = 100_000

/** The names chosen for lines with these texts. */
function chosen(sources: readonly string[], tokens = MANY_TOKENS, context: Partial<NameContext> = {}): string[][] {
  const lines = sources.map((source) => ({ names: namesIn(source) }))
  const names = chooseNames(lines, tokens, { ...NOTHING, ...context })
  return lines.map((line) => [...(names.get(line) ?? [])])
}

const many = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}Name${i}`)

test("an image that is written into a file has no names", () => {
  const icon = "url(data:image/png;base64,vqs/noNps+yiBPA+Xn3H9/t+jb8TSNW=)"
  expect([...namesIn(`.cartIcon{background:${icon}} .mail_icon{content:"x"}`)]).toEqual([
    "cartIcon",
    "image/png",
    "mail_icon",
  ])
})

test("paths and identifiers are names, plain words are not", () => {
  const [names = []] = chosen(["we should look into src/price.ts because priceOf and MAX_PRICE are wrong"])
  expect(names.toSorted()).toEqual(["MAX_PRICE", "priceOf", "src/price.ts"])
})

test("names that are not ASCII are whole: half of one names nothing", () => {
  const written = "größe_neu and größeÄndern in src/müller/größe.ts, сумма_заказа in src/файлы/корзина.ts"
  expect([...namesIn(written)]).toEqual([
    ...["größe_neu", "größeÄndern", "src/müller/größe.ts", "сумма_заказа", "src/файлы/корзина.ts"],
  ])
  const decomposed = "src/größe.ts".normalize("NFD")
  expect([...namesIn(`see ${decomposed}`)]).toEqual([decomposed])
})

test("a name that git writes in octal digits is the name of the file", () => {
  const status = 'modified:   "docs/\\345\\256\\211\\350\\243\\205.md"\n?? "src/gr\\303\\266\\303\\237e.ts"'
  expect([...namesIn(status)]).toEqual(["docs/安装.md", "src/größe.ts"])
  const diff = 'diff --git "a/src/gr\\303\\266\\303\\237e.ts" "b/src/gr\\303\\266\\303\\237e.ts"\n'
  expect([...namesIn(diff)]).toEqual(["src/größe.ts"])
})

test("text that stands beside a path without a blank is no part of it", () => {
  expect([...namesIn("请修改src/购物车.ts文件，把userName改成newName。见docs/安装指南.md")]).toEqual([
    ...["src/购物车.ts", "userName", "newName", "docs/安装指南.md"],
  ])
  expect([...namesIn("src/カート.tsとsrc/a.tsを直す。資料/注文.md")]).toEqual([
    "src/カート.ts",
    "src/a.ts",
    "資料/注文.md",
  ])
  expect([...namesIn("src/a.ts، src/b.ts")]).toEqual(["src/a.ts", "src/b.ts"])
  expect([...namesIn("是/否/不知道 и/или/либо")]).toEqual([])
})

test("a host whose name begins as an escape does keeps its first letter", () => {
  const paths = ["\\\\nas\\share\\a.txt", "\\\\tower.local\\c$\\b.txt"]
  expect([...namesIn(paths.join(" "))]).toEqual(paths)
})

test("line breaks written as escapes are no part of a name, a folder that begins as one does is", () => {
  const written = String.raw`{"text":"Logo\nMore\n\nReleases\n\npriceOf\nTax and C:\new\table.txt or src\nice\a.ts"}`
  expect([...namesIn(written)]).toEqual(["priceOf", "C:\\new\\table.txt", "src\\nice\\a.ts"])
})

test("the lines that grep shows around a match name the file once", () => {
  const found = "/app/src/plan.go-87-\n/app/src/plan.go-88-type Plan struct {\n/app/src/plan.go:89:\tName string\n"
  expect([...namesIn(found)]).toEqual(["/app/src/plan.go"])
  expect([...namesIn("docs/2-plan.md src/v1.2-3/a.ts")]).toEqual(["docs/2-plan.md", "src/v1.2-3/a.ts"])
})

test("a diff names each file once, without git's prefixes", () => {
  const diff =
    "diff --git a/src/cart.ts b/src/cart.ts\nindex 1a2b3c4..2b3c4d5 100644\n--- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -1 +1 @@\n-sumOf a/b.ts\n"
  const names = [...namesIn(diff)]
  expect(names).toContain("src/cart.ts")
  expect(names.filter((name) => /^[ab]\/src|\/src/.test(name))).toEqual([])
  expect(names).toContain("a/b.ts")
})

test("addresses are names with their scheme and port, without the query", () => {
  const addresses = ["file:///app/src/a.ts", "ssh://git@example.com/shop.git", "redis://cache.internal:6379/0"]
  expect([...namesIn(addresses.join(" "))]).toEqual(addresses)
  expect([...namesIn("see https://docs.example.com/en/limits?x=1 and http://localhost:3000/api/users.")]).toEqual([
    "https://docs.example.com/en/limits",
    "http://localhost:3000/api/users",
  ])
})

test("half a word is no name, nor is an escape", () => {
  expect(chosen(["<EmptyState title={label}></EmptyState>"])).toEqual([["EmptyState"]])
  expect(chosen(["a <div></div> or <br/>"])).toEqual([[]])
  expect(chosen(["3c68503 add a commit, 51b6b4c another"])[0]?.toSorted()).toEqual(["3c68503", "51b6b4c"])
  expect(chosen(["3rdParty 8ffe57 20260421165255"])).toEqual([[]])
  expect(
    chosen([String.raw`"--force\n" "\n\t\tfmt.Fprintf" "path\r\n\u001b" {\"priceOf\": \"src/a.ts\"}`])[0]?.toSorted(),
  ).toEqual(["priceOf", "src/a.ts"])
  expect(chosen(["\u001b[32m0.2/0.2 MB\u001b[0m 50/100 __________ \u001b[1mpriceOf\u001b[0m //127.0.0.1"])).toEqual([
    ["priceOf", "//127.0.0.1"],
  ])
  expect(chosen([String.raw`D:\src\new\a.go`])).toEqual([[String.raw`D:\src\new\a.go`]])
})

test("what looks like a secret is not chosen, and a name beside the word for one is", () => {
  expect(chosen(["sk-ant-api03/a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4 priceOf"])).toEqual([["priceOf"]])
  const line = { first: "7 bash ls", names: new Set<string>() }
  const names = ["client_secret", "StatusOK", "access_token", "SaveTokens"]
  expect(withNames(line, names)).toBe(`7 bash ls · ${names.join(" ")}`)
})

test("a name that stands elsewhere in the request is not repeated", () => {
  expect(chosen(["priceOf"], MANY_TOKENS, { kept: ["it calls priceOf(cart)"] })).toEqual([[]])
  expect(chosen(["priceOf totalOf"], MANY_TOKENS, { kept: ["priceOf"] })).toEqual([["totalOf"]])
})

test("a name stands once, where it was seen last", () => {
  expect(chosen(["priceOf", "totalOf priceOf", "nothing"])).toEqual([[], ["priceOf", "totalOf"], []])
})

test("a name that is gone with the secrets is not chosen", () => {
  const line = { names: namesIn("priceOf hunter2Of"), isSafe: (name: string) => name !== "hunter2Of" }
  expect(chooseNames([line], MANY_TOKENS, NOTHING).get(line)).toEqual(["priceOf"])
})

test("a name that is gone in the newest line stands where it is not", () => {
  const older = { names: namesIn("priceOf") }
  const newer = { names: namesIn("priceOf"), isSafe: () => false }
  const names = chooseNames([older, newer], MANY_TOKENS, NOTHING)
  expect([names.get(older), names.get(newer)]).toEqual([["priceOf"], undefined])
})

test("all lines share one budget, a share of what is folded up to a maximum", () => {
  const size = (names: readonly string[][]) => names.flat().join(" ").length
  const sources = [many("first", 2_000).join(" "), many("second", 2_000).join(" ")]
  const some = size(chosen(sources, 1_000))
  expect(some).toBeGreaterThan(0)
  expect(some).toBeLessThan(1_000)
  const most = size(chosen(sources, MANY_TOKENS))
  expect(most).toBeGreaterThan(some)
  expect(size(chosen(sources, 100 * MANY_TOKENS))).toBe(most)
  expect(chosen(sources, 0)).toEqual([[], []])
})

test("names that more messages use, or more of the folded calls show, come first", () => {
  const source = [...many("other", 500), "usedMoreOften"].join(" ")
  const tokens = 100
  expect(chosen([source], tokens).flat()).not.toContain("usedMoreOften")
  const used = new Map([["usedMoreOften", 3]])
  expect(chosen([source], tokens, { used })[0]?.[0]).toBe("usedMoreOften")
  expect(chosen([source, "usedMoreOften", "usedMoreOften"], tokens)[2]).toEqual(["usedMoreOften"])
  // how often one call shows it does not count
  expect(chosen([`${source} ${"usedMoreOften ".repeat(100)}`], tokens).flat()).not.toContain("usedMoreOften")
})

test("of names with the same uses, the shorter comes first", () => {
  const long = `very/long/path/${"folder/".repeat(10)}file.ts`
  expect(chosen([`${long} a/b.ts12`])[0]).toEqual(["a/b.ts12", long])
})
