import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import fc from "fast-check"
import { optionsSchema, readOptions, requestOptionsOf } from "../src/options.ts"

const DEFAULTS = optionsSchema.parse({})
const root = new URL("../", import.meta.url)

describe("options", () => {
  test("no options mean the defaults", () => {
    for (const given of [undefined, null, {}]) expect(readOptions(given)).toEqual({ options: DEFAULTS, problems: [] })
  })

  test.each([
    [
      { hud: { budgetTokens: "big" } },
      "hud.budgetTokens",
      /option hud\.budgetTokens: expected a number, got "big"; using 250/,
    ],
    [{ hud: { budgetTokens: 5 } }, "hud.budgetTokens", /option hud\.budgetTokens: .*60.*, got 5; using 250/],
    [{ fold: { maxContextTokens: 500 } }, "fold.maxContextTokens", /at least 8000, got 500; using the default/],
    [
      { store: { path: "../x.db" } },
      "store.path",
      /expected an absolute path, or a name .* ends in .db, got "..\/x.db"; using/,
    ],
    [{ fold: { maxContextTokens: 9000.5 } }, "fold.maxContextTokens", /got 9000\.5; using the default/],
    [{ hud: { slot: "top" } }, "hud.slot", /expected one of "auto", "tail", "tool", "sticky", got "top"; using "auto"/],
    [{ hud: { sections: ["files", "weather"] } }, "hud.sections", /option hud\.sections: .*got \["files","weather"\]/],
    [{ hud: 3 }, "hud", /option hud: expected an object, got 3; using the default/],
    [{ rows: [] }, "rows", /unknown option rows; it is ignored\. It is an option of the panel, in tui\.json/],
    [{ hudd: {} }, "hudd", /unknown option hudd; it is ignored\. Known: .*hud/],
    [{ hud: { sloth: 1 } }, "hud.sloth", /unknown option hud\.sloth; it is ignored\. Known: .*slot/],
    [{ deadlineMs: null }, "deadlineMs", /option deadlineMs: .*got null; using 50/],
    [
      { fold: { protectedFiles: ["a".repeat(70_000)] } },
      "fold.protectedFiles",
      /expected every entry to be at most 1000 characters long, got \["a{57}…; using the default/,
    ],
    [[], "(all)", /must be an object/],
    ["x", "(all)", /must be an object/],
  ])("%j gets one message and the default", (given, option, message) => {
    const { options, problems } = readOptions(given)
    expect(options).toEqual(DEFAULTS)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ option, message: expect.stringMatching(message) })
  })

  test("switch the HUD or folding off with false, as OpenCode's own do", () => {
    expect(readOptions({ fold: false, hud: false })).toEqual(
      readOptions({ fold: { enabled: false }, hud: { enabled: false } }),
    )
    expect(readOptions({ fold: false }).problems).toEqual([])
  })

  test("valid options next to invalid ones are kept", () => {
    const { options, problems } = readOptions({
      deadlineMs: 80,
      hud: { slot: "top", budgetTokens: 100, colour: 1 },
      nope: true,
    })
    expect(options).toMatchObject({ deadlineMs: 80, hud: { slot: "auto", budgetTokens: 100 } })
    expect(problems.map((problem) => problem.option).sort()).toEqual(["hud.colour", "hud.slot", "nope"])
  })

  test("an option is not taken for an unknown one that is spelled like its path", () => {
    const { options, problems } = readOptions({ "hud.slot": "tail", hud: { slot: "top" } })
    expect(options).toEqual(DEFAULTS)
    expect(problems.map(({ message }) => message).sort()).toEqual([
      expect.stringContaining('option hud.slot: expected one of "auto"'),
      expect.stringContaining("unknown option hud.slot; it is ignored"),
    ])
  })

  test("the largest size of a request reaches the preparation of requests", () => {
    const { options } = readOptions({ fold: { maxContextTokens: 8000 } })
    expect(requestOptionsOf(options).fold.maxContextTokens).toBe(8000)
    expect(requestOptionsOf(DEFAULTS).fold.maxContextTokens).toBeUndefined()
  })

  test("the longest patterns allowed are patterns", () => {
    const pattern = `${"a".repeat(996)}*.ts`
    const { options } = readOptions({ fold: { protectedFiles: [pattern], protectedTools: [pattern] } })
    expect(options.fold.protectedFiles).toEqual([pattern])
    const event = { tool: "read", kind: "read", summary: "b.ts", files: [] } as never
    expect(requestOptionsOf(options).isProtected(event)).toBe(false)
  })

  test("any input yields valid options", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record(
            { hud: fc.anything(), store: fc.anything(), deadlineMs: fc.anything(), disabledAgents: fc.anything() },
            { requiredKeys: [] },
          ),
        ),
        (given) => {
          expect(optionsSchema.safeParse(readOptions(given).options).success).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })

  test("options that have no JSON are the defaults, with one message", () => {
    const endless: Record<string, unknown> = {}
    endless.itself = endless
    for (const given of [{ hud: { budgetTokens: 10n } }, endless]) {
      const { options, problems } = readOptions(given)
      expect(options).toEqual(readOptions({}).options)
      expect(problems.map(({ message }) => message)).toEqual(["the options must be plain JSON; using the defaults"])
    }
  })

  /** The options of the example once its text was changed. */
  function exampleWith(change: (text: string) => string): Record<string, object> {
    const [, ...lines] = readFileSync(new URL("opencode.json.example", root), "utf8").split("\n")
    const { plugin } = JSON.parse(change(lines.join("\n"))) as { plugin: [string, Record<string, object>][] }
    return plugin[0]![1]
  }

  test("the example as it stands is the defaults", () => {
    const given = exampleWith((text) => text.replace(/^ *\/\/.*$/gm, ""))
    expect(readOptions(given)).toEqual({ options: readOptions({}).options, problems: [] })
  })

  test("the example with its comments is valid and shows every option", () => {
    const given = exampleWith((text) => text.replace(/^ *\/\/ /gm, ""))
    expect(readOptions(given).problems).toEqual([])
    const schema = JSON.parse(readFileSync(new URL("options.schema.json", root), "utf8")) as {
      properties: Record<string, { properties?: object }>
    }
    const names = (properties: Record<string, { properties?: object }>) =>
      Object.entries(properties).flatMap(([key, { properties: inner }]) => [
        key,
        ...Object.keys(inner ?? {}).map((one) => `${key}.${one}`),
      ])
    const shown = Object.entries(given).flatMap(([key, value]) => [
      key,
      ...(typeof value === "object" && !Array.isArray(value) ? Object.keys(value).map((one) => `${key}.${one}`) : []),
    ])
    expect(shown.sort()).toEqual(
      names(schema.properties)
        .filter((one) => one !== "$schema")
        .sort(),
    )
  })
})
