import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { commandKey, covers, isCheck } from "../../src/output/commands.ts"
import { kindOf } from "../../src/output/tools.ts"
import { normalizePath, relativeTo } from "../../src/text/paths.ts"
import { redact } from "../../src/text/redact/redact.ts"
import { cut, cutMiddle, line, wellFormed } from "../../src/text/text.ts"

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

test("wellFormed replaces NULs and lone surrogates and nothing else", () => {
  expect(wellFormed("a\u0000b\ud800c👍")).toBe("a\ufffdb\ufffdc👍")
})

describe("redact", () => {
  // put together here, so that no scanner takes this file for a leak
  const SECRET = "q7Zx9Lm2Kp4Rt8Wv1Yb6Nc3Hd5Jf0Gs"
  test.each([
    `sk-ant-api03-${SECRET}`,
    `sk-proj-${SECRET}`,
    `ghp_${SECRET}`,
    `AKIA${"Q7ZX9LM2KP4RT8WV"}`,
    `npm_${SECRET}`,
    `export OPENAI_API_KEY=${SECRET}`,
    `DB_PASSWORD='${SECRET}'`,
    `"apiKey": "${SECRET}"`,
    `postgres://shop:${SECRET}@localhost:5432/shop`,
    `curl -H 'Authorization: Bearer ${SECRET}' localhost`,
    `mysql --password=${SECRET} -u root`,
    `-----BEGIN RSA PRIVATE KEY----- ${SECRET}`,
    `token eyJhbGciOiJI.${SECRET}.abc`,
  ])("takes the secret out of %s", (text) => {
    const out = redact(text)
    expect(out).toContain("[redacted]")
    expect(out.toLowerCase()).not.toContain("q7zx9lm2")
  })

  test.each([
    ["const token = getToken()"],
    ["password: string"],
    ["src/token-counter.ts edited, secrets.md read"],
    ["npm test -- --grep tokenizer"],
    ["the API key should come from process.env.API_KEY"],
    ["git log --oneline -5 abcdef0"],
  ])("leaves %s alone", (text) => expect(redact(text)).toBe(text))
})

describe("commands", () => {
  test.each([
    ["cd app && npm test 2>&1 | tail -20", "npm test"],
    ["CI=1 FOO='a b' npm test", "npm test"],
    ["export CI=1 && npm test", "npm test"],
    ["timeout 60 npm test > out.log 2>&1", "npm test"],
    ["npm test; echo done", "npm test"],
    ['npm run check 2>&1 | grep -E "(error|success)"', "npm run check"],
    ["npm run format && npm run check", "npm run check"],
    ["npm run build; node dist/cli.js", "npm run build"],
    ["git add -A && git commit -m 'fix && test; more'", "git add -A && git commit -m fix && test; more"],
    ["python - <<'EOF'\nimport test\nEOF", "python -"],
    ["npx tsc --noEmit", "tsc --noEmit"],
    ["git log --oneline", "git log --oneline"],
    ["", ""],
    ["cd", "cd"],
  ])("%p is the same attempt as %p", (command, key) => expect(commandKey(command)).toBe(key))

  test("a run covers the same run with restrictions", () => {
    expect(covers("npm test", "npm test login")).toBe(true)
    expect(covers("npm test login", "npm test")).toBe(false)
    expect(covers("npm test", "npm tester")).toBe(false)
  })

  test.each([
    "npm test",
    "npx tsc --noEmit",
    "cargo build",
    "./gradlew check",
    "python -m pytest -q",
    "make",
    "sh test.sh",
    "./run_tests.sh",
    "node --test",
  ])("%s checks the project", (command) => expect(isCheck(command)).toBe(true))
  test.each(["cat test.log", "ls src", "git status", "node server.js", "grep -rn test src"])("%s does not", (command) =>
    expect(isCheck(command)).toBe(false),
  )
})

describe("paths", () => {
  test.each([
    ["/r", "/r/a/./b/../c.ts", "a/c.ts"],
    ["/r", "/other/a.ts", "/other/a.ts"],
    ["/r", "a.ts", "a.ts"],
    ["C:\\r", "c:\\r\\a.ts", "a.ts"],
    ["/", "/etc/hosts", "/etc/hosts"],
    [undefined, "/etc/hosts", "/etc/hosts"],
    ["/r", "/r", "."],
    ["/r", "/rest/a", "/rest/a"],
  ])("in %p, %p is %p", (root, path, short) => expect(relativeTo(root, path)).toBe(short))

  test("normalising twice changes nothing", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "..", ".", "", "b c")).map((names) => names.join("/")),
        (path) => expect(normalizePath(normalizePath(path))).toBe(normalizePath(path)),
      ),
    )
  })
})

test("tools nobody knows are judged by their words", () => {
  expect(
    ["bash", "websearch_web_search_exa", "github_search_issues", "context7_resolve-library-id", "constructor"].map(
      kindOf,
    ),
  ).toEqual(["command", "web", "search", "other", "other"])
})
