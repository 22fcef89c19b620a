// Lines that are safe to quote, cuts, paths, and how numbers are written.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ago, amount, byteSize, dollars, finePercent, percent, plural, seconds } from "../../src/text/format.ts"
import { normalizePath, relativeTo } from "../../src/text/paths.ts"
import { cut, cutMiddle, line, wellFormed } from "../../src/text/sanitize.ts"
import { estimateTokens } from "../../src/text/tokens.ts"

describe("line", () => {
  test("is one well-formed printable line without tags, whatever comes in", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string(),
          fc.string({ unit: fc.constantFrom("<", "/", "|", "h", "\n", "\u001b", "[", "m", "\u202e", "\ud800") }),
        ),
        (text) => {
          const out = line(text)
          expect(out.isWellFormed()).toBe(true)
          expect(out).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f]/)
          expect(out).not.toMatch(/<[a-z/!?|]/i)
        },
      ),
    )
  })

  test("leaves ordinary text and code comparisons as they are", () => {
    expect(line("if (a < 3 && b > 4) 2>&1 — naïve 日本語 👍")).toBe("if (a < 3 && b > 4) 2>&1 — naïve 日本語 👍")
  })
})

describe("cut", () => {
  test("never exceeds its bound and never splits a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 40 }), (text, max) => {
        for (const short of [cut(text, max), cutMiddle(text, max)]) {
          expect(short.length).toBeLessThanOrEqual(max)
          expect(short.isWellFormed() || !text.isWellFormed()).toBe(true)
        }
      }),
    )
  })
})

test("a cut leaves no letter without its marks, and no mark without its letter", () => {
  const german = "Größe für Äpfel".normalize("NFD")
  for (let max = 2; max < german.length; max++)
    for (const short of [cut(german, max), cutMiddle(german, max)]) {
      expect(short).not.toMatch(/…\p{M}/u)
      expect("Größe für Äpfel").toStartWith(short.normalize("NFC").split("…")[0] ?? "?")
    }
  expect(cut("नमस्ते दुनिया", 6)).toBe("नमस्…")
  expect(cutMiddle("ok 👍🏽 ok ok", 10)).toBe("ok …k ok")
})

/** What the tokenizer o200k counts for a sentence about a shopping cart. */
test.each([
  ["Arabic", 27, "أصلح مجموع سلة التسوق وأضف اختبارات لجميع الحالات الحدية، ثم حدّث وثائق المتجر."],
  ["Hebrew", 33, "תקן את סכום עגלת הקניות והוסף בדיקות לכל מקרי הקצה, ולאחר מכן עדכן את התיעוד של החנות."],
  ["Thai", 38, "แก้ไขยอดรวมของตะกร้าสินค้าและเพิ่มการทดสอบสำหรับกรณีขอบทั้งหมด จากนั้นอัปเดตเอกสารของร้านค้า"],
  ["Tamil", 30, "கடை வண்டியின் மொத்தத்தைச் சரிசெய்து அனைத்து எல்லை நிலைகளுக்கும் சோதனைகளைச் சேர்க்கவும்."],
  ["Chinese", 25, "修复购物车的合计错误，并为所有边界情况补充测试，然后更新商店的文档。"],
])("the estimate for %s is within a third of what a tokenizer counts", (_, tokens, text) => {
  expect(Math.abs(estimateTokens(text) - tokens)).toBeLessThan(tokens / 3)
})

test("wellFormed replaces NULs and lone surrogates and nothing else", () => {
  expect(wellFormed("a\u0000b\ud800c👍")).toBe("a\ufffdb\ufffdc👍")
})

describe("paths", () => {
  test.each([
    ["/r", "/r/a/./b/../c.ts", "a/c.ts"],
    ["/r", "/other/a.ts", "/other/a.ts"],
    ["/r", "a.ts", "a.ts"],
    ["C:\\r", "c:\\r\\a.ts", "a.ts"],
    ["C:\\Users\\dev", "c:\\users\\Dev\\a.ts", "a.ts"],
    ["C:\\r", "c:\\R", "."],
    ["C:\\r", "C:\\rest\\a.ts", "C:/rest/a.ts"],
    ["/r", "/R/a.ts", "/R/a.ts"],
    ["/", "/etc/hosts", "/etc/hosts"],
    [undefined, "/etc/hosts", "/etc/hosts"],
    ["/r", "/r", "."],
    ["/r", "/rest/a", "/rest/a"],
  ])("in %p, %p is %p", (root, path, short) => expect(relativeTo(root, path)).toBe(short))

  test.each([
    ["a\\b", "a/b"],
    ["c:/a", "C:/a"],
    ["./a//b/../c/.", "a/c"],
    ["a\n/", "a\n"],
    ["/..", "/"],
    [".git/..a", ".git/..a"],
  ])("%p is normalised to %p", (path, whole) => expect(normalizePath(path)).toBe(whole))

  test("normalising is idempotent", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "..", ".", "", "b c")).map((names) => names.join("/")),
        (path) => expect(normalizePath(normalizePath(path))).toBe(normalizePath(path)),
      ),
    )
  })
})

describe("format", () => {
  test.each([
    [plural(1, "call"), "1 call"],
    [plural(0, "call"), "0 calls"],
    [plural(2, "match"), "2 matches"],
    [plural(3, "entry"), "3 entries"],
    [plural(2, "key"), "2 keys"],
    [plural(1, "line", true), "1+ lines"],
    [amount(949.6), "950"],
    [amount(999.6), "1.0k"],
    [amount(8_740), "8.7k"],
    [amount(9_960), "10k"],
    [amount(999_499), "999k"],
    [amount(999_500), "1.0M"],
    [amount(1e9), "1.0B"],
    [amount(-8_740), "-8.7k"],
    [amount(-0.4), "0"],
    [percent(0.376), "38%"],
    [percent(-0.25), "-25%"],
    [percent(0 / 0), "0%"],
    [finePercent(0.004), "0.4%"],
    [finePercent(0.05), "5%"],
    [finePercent(0.0996), "10%"],
    [finePercent(0 / 0), "0%"],
    [dollars(0.0421), "$0.0421"],
    [dollars(1.2), "$1.20"],
    [dollars(-0.5), "-$0.50"],
    [dollars(-0.00001), "$0"],
    [byteSize(1), "1 kB"],
    [byteSize(999_000), "999 kB"],
    [byteSize(999_001), "1 MB"],
    [byteSize(380_400_000), "380 MB"],
    [byteSize(999_600_000), "1.0 GB"],
    [byteSize(1_240_000_000), "1.2 GB"],
    [seconds(440), "0.4 s"],
    [seconds(20_000), "20 s"],
    [ago(-1), "0 seconds ago"],
    [ago(90_000), "1 minute ago"],
    [ago(3 * 86_400_000), "3 days ago"],
  ])("%s, expected %s", (written, expected) => expect(written).toBe(expected))
})
