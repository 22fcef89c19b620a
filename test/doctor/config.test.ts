// Which config files the doctor reads and which plugins it finds in them, compared with OpenCode.
import { describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import fc from "fast-check"
import { type Config, parseJsonc, readConfig } from "../../src/doctor/config-files.ts"
import { checkConfig, readListing } from "../../src/doctor/listing.ts"
import { npmNameOf, specOf } from "../../src/doctor/plugin-list.ts"
import { parseJson } from "../../src/system/values.ts"
import { skipInstall } from "../opencode/host.ts"
import { opencode, root, spawnChild, temporaryFolder } from "../store/support.ts"
import { testLarge } from "../support/large.ts"

describe("JSON with comments", () => {
  const rows: { name: string; text: string; value: unknown }[] = [
    { name: "plain JSON", text: '{"a": [1, null]}', value: { a: [1, null] } },
    { name: "comments of both kinds", text: '{ // one\n "a": /* two\n lines */ 1 }', value: { a: 1 } },
    { name: "trailing commas", text: '{"a": [1, 2,\n], "b": {},}', value: { a: [1, 2], b: {} } },
    { name: "a trailing comma before a comment", text: '{"a": 1, // last\n}', value: { a: 1 } },
    {
      name: "strings that look like comments",
      text: '{"url": "https://host/*path*/", "b": "a \\" // b"}',
      value: { url: "https://host/*path*/", b: 'a " // b' },
    },
    { name: "strings that look like trailing commas", text: '{"a": ",]", "b": ", }"}', value: { a: ",]", b: ", }" } },
    { name: "a byte order mark", text: '\ufeff{"a": 1}', value: { a: 1 } },
  ]
  for (const { name, text, value } of rows) test(name, () => expect(parseJsonc(text)).toEqual(value))

  const errors = [
    ...["{,}", "[ ,]", '{"a": [1,,]}', "{", '{"a": }', "{'a': 1}", '{"a": 1 "b": 2}', '{"a": "open', '{"a": 01}'],
    ...['{"a": true} x', '{"a": /* open 1}', '{"a" 1}', ""],
  ]
  for (const text of errors) test(`${text} is rejected`, () => expect(parseJsonc(text)).toBeUndefined())

  test("without comments and trailing commas, it takes and rejects what JSON.parse does", () => {
    const changed = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom("", "{", "]", '"', ",", ":", "1", "-", "\\", "null", "e5", "."),
    )
    fc.assert(
      fc.property(changed, ([json, at, put]) => {
        const text = json.slice(0, at % (json.length + 1)) + put + json.slice(at % (json.length + 1))
        // trailing commas are what differs on purpose
        if (/,\s*[}\]]/.test(text)) return
        expect(parseJsonc(text)).toEqual(parseJson(text))
      }),
      { numRuns: 3000 },
    )
  })
})

test("the package name is extracted from a spec", () => {
  const names = [
    "opencode-hudfold",
    "opencode-hudfold@1.2.3",
    "opencode-hudfold@file:/tmp/a.tgz",
    "@owner/name@latest",
    "hud@npm:opencode-hudfold@1",
  ]
  expect(names.map(npmNameOf)).toEqual([
    "opencode-hudfold",
    "opencode-hudfold",
    "opencode-hudfold",
    "@owner/name",
    "opencode-hudfold",
  ])
})

test("a checkout and an installed package are listed by their folder, one in a cache by its name", async () => {
  using folder = temporaryFolder()
  const copyIn = (...place: string[]) => {
    const copy = join(folder.path, ...place)
    mkdirSync(join(copy, "dist"), { recursive: true })
    writeFileSync(join(copy, "package.json"), '{ "name": "opencode-hudfold", "version": "1.2.3" }')
    return copy
  }
  const checkout = copyIn("code", "hudfold")
  const installed = copyIn("lib", "node_modules", "opencode-hudfold")
  const cached = [
    ["cache", "opencode-hudfold@latest"],
    ["_npx", "1a2b"],
  ].map((place) => copyIn(...place, "node_modules", "opencode-hudfold"))
  expect(await specOf(join(checkout, "dist", "cli.js"))).toBe(checkout)
  expect(await specOf(join(installed, "dist", "cli.js"))).toBe(installed)
  for (const copy of cached) expect(await specOf(join(copy, "dist", "cli.js"))).toBe("opencode-hudfold")
  expect(await specOf(join(folder.path, "elsewhere", "cli.js"))).toBe("opencode-hudfold")
})

/** A home with config files, read from `home/code/project/deep`; the repository is `project`. */
async function configOf(files: Record<string, unknown>, env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const at = (path: string) => join(folder.path, path)
  for (const [path, content] of Object.entries({
    "code/project/.git/HEAD": "",
    "code/project/deep/file": "",
    ...files,
  })) {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), typeof content === "string" ? content : JSON.stringify(content))
  }
  const all = { ...env, ...(env.OPENCODE_CONFIG_DIR ? { OPENCODE_CONFIG_DIR: at(env.OPENCODE_CONFIG_DIR) } : {}) }
  const config = await readConfig(all, folder.path, at("code/project/deep"))
  // the test machine may have a config file of its own
  const own = (list: Config["server"]) =>
    list.filter(({ path }) => path.startsWith(folder.path) || path.startsWith("$"))
  const ours: Config = { ...config, server: own(config.server), tui: own(config.tui) }
  return {
    at,
    config: ours,
    listing: await readListing(ours, all, folder.path),
    paths: (list: Config["server"]) => list.map(({ path }) => relative(folder.path, path)),
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

describe("the config files of a folder", () => {
  test("of the TUI are those above the repository too, with every .opencode", async () => {
    const names = [
      ".config/opencode/tui.json",
      "tui.json",
      "code/tui.jsonc",
      "code/project/tui.json",
      "code/project/.opencode/tui.json",
      "code/.opencode/tui.json",
      ".opencode/tui.json",
    ]
    using found = await configOf(Object.fromEntries(names.map((name) => [name, {}])))
    expect(found.paths(found.config.tui)).toEqual(names)
  })

  test("are the global ones, then the project's from the outermost, then every .opencode", async () => {
    const names = [
      ".config/opencode/config.json",
      ".config/opencode/opencode.jsonc",
      "named.json",
      "code/project/opencode.json",
      "code/project/deep/opencode.json",
      "code/project/deep/opencode.jsonc",
      "code/project/deep/.opencode/opencode.json",
      "code/project/.opencode/opencode.jsonc",
      ".opencode/opencode.json",
      "dir/opencode.json",
    ]
    const others = ["code/opencode.json", "opencode.json", ".config/opencode/other.json"]
    using found = await configOf(Object.fromEntries([...others, ...names].map((name) => [name, {}])), {
      OPENCODE_CONFIG: "../../../named.json",
      OPENCODE_CONFIG_DIR: "dir",
    })
    expect(found.paths(found.config.server)).toEqual(names)
  })

  test("include a whole config in the environment", async () => {
    using found = await configOf(
      { ".config/opencode/opencode.json": { plugin: [["opencode-hudfold", { deadlineMs: 10 }]] } },
      { OPENCODE_CONFIG_CONTENT: '{ "plugin": [["opencode-hudfold", { "deadlineMs": 20 }]] }' },
    )
    expect(found.listing.ours.map(({ options }) => options)).toEqual([{ deadlineMs: 20 }])
    using broken = await configOf({}, { OPENCODE_CONFIG_CONTENT: "{" })
    expect(checkConfig(broken.config)).toMatchObject([
      { level: "fail", found: expect.stringMatching(/^\$OPENCODE_CONFIG_CONTENT is not valid JSON/) },
    ])
  })

  test("include those of the TUI, in the same folders", async () => {
    const names = [
      ".config/opencode/tui.json",
      "named.json",
      "code/project/tui.json",
      "code/project/deep/tui.jsonc",
      "code/project/.opencode/tui.json",
    ]
    using found = await configOf(Object.fromEntries(names.map((name) => [name, {}])), {
      OPENCODE_TUI_CONFIG: "../../../named.json",
    })
    expect(found.paths(found.config.tui)).toEqual(names)
  })

  test("exclude the project's if OpenCode is told so", async () => {
    const files = {
      ".config/opencode/opencode.json": {},
      "code/project/opencode.json": {},
      "code/project/.opencode/tui.json": {},
    }
    using found = await configOf(files, { OPENCODE_DISABLE_PROJECT_CONFIG: "1" })
    expect(found.paths([...found.config.server, ...found.config.tui])).toEqual([".config/opencode/opencode.json"])
  })

  test("that are not JSON are reported without quoting them", async () => {
    const secret = "hunter2hunter2"
    using found = await configOf({
      "code/project/opencode.json": `{"apiKey": "${secret}" "model": 1}`,
      ".config/opencode/opencode.json": "[]",
      ".config/opencode/config.json": "\n",
    })
    expect(found.config.server.map(({ problem }) => problem)).toEqual(["is not a JSON object", "is not valid JSON"])
    expect(JSON.stringify(found.config)).not.toContain(secret)
  })
})

describe("OpenCode starts with a config, or does not, as the doctor says:", () => {
  const rows: { name: string; content?: unknown; problem?: string }[] = [
    { name: "a valid config", content: '\ufeff{ "plugin": ["", ["", { "a": 1 }]], "username": "{env:NONE}" } // ok' },
    { name: "a comma alone", content: "{,}", problem: "is not valid JSON" },
    {
      name: "one name in place of a list",
      content: { plugin: "a-plugin" },
      problem: 'has a "plugin" that is not a list',
    },
    {
      name: "a pair without options",
      content: { plugin: [["a-plugin"]] },
      problem: 'has a "plugin" that is not a list',
    },
    { name: "a file that is not there", content: { username: "{file:./none}" }, problem: "refers to {file:./none}" },
    { name: "a folder", problem: "is a folder" },
  ]
  const DAILY = ["a valid config", "a file that is not there"]
  for (const { name, content, problem } of rows) {
    const one = DAILY.includes(name) ? test : testLarge
    one(
      name,
      async () => {
        using found = await configOf(
          content === undefined
            ? { "code/project/opencode.json/file": "" }
            : { "code/project/opencode.json": content, "code/project/opencode.jsonc": "" },
        )
        const [file] = found.config.server
        expect(file?.problem ?? "").toStartWith(problem ?? "")
        expect(file?.problem === undefined).toBe(problem === undefined)
        const own = ["config", "data", "cache", "state"].map((name) => [
          `XDG_${name.toUpperCase()}_HOME`,
          found.at(name),
        ])
        const there = ["sh", "-c", 'cd "$0" && exec "$1" debug config', found.at("code/project"), opencode]
        skipInstall(found.at("config/opencode"))
        const env = { ...Object.fromEntries(own), HOME: found.at("home"), OPENCODE_DISABLE_MODELS_FETCH: "1" }
        using child = spawnChild(there, env)
        const { code } = await child.finish()
        expect(code === 0).toBe(problem === undefined)
      },
      30_000,
    )
  }

  test("references are replaced, except in comments", async () => {
    using found = await configOf(
      {
        "code/project/opencode.json":
          '{\n// {file:./none}\n"a": "{env:KEY}", "b": "{file:./b.txt}", "c": "{file:~/c.txt}", "d": "{env:NONE}" }',
        "code/project/b.txt": 'two\n"lines"\n',
        "c.txt": "home",
      },
      { KEY: "one" },
    )
    expect(found.config.server.map(({ value }) => value)).toEqual([{ a: "one", b: 'two\n"lines"', c: "home", d: "" }])
  })
})

describe("the plugin in a list", () => {
  const ways: { name: string; entry: unknown; is: boolean }[] = [
    { name: "by its name", entry: "opencode-hudfold", is: true },
    { name: "with a version", entry: "opencode-hudfold@1.2.3", is: true },
    { name: "with options", entry: ["opencode-hudfold", { hud: {} }], is: true },
    { name: "as a tarball", entry: "opencode-hudfold@file:/tmp/opencode-hudfold-0.1.0.tgz", is: true },
    { name: "as a folder", entry: root, is: true },
    { name: "as its source's URL", entry: new URL("../../src/plugin.ts", import.meta.url).href, is: true },
    { name: "as a relative path into a package", entry: "./mine/dist/plugin.js", is: true },
    { name: "under another name", entry: "opencode-hudfold-theme", is: false },
    { name: "as a number", entry: 1, is: false },
  ]
  for (const { name, entry, is } of ways) {
    test(name, async () => {
      using found = await configOf({
        ".config/opencode/opencode.json": { plugin: ["other", entry] },
        ".config/opencode/mine/package.json": { name: "opencode-hudfold", version: "9.9.9" },
        ".config/opencode/mine/dist/plugin.js": "",
      })
      expect(found.listing.ours.map(({ spec }) => spec)).toEqual(
        is ? [String(Array.isArray(entry) ? entry[0] : entry)] : [],
      )
    })
  }

  test("has the version that OpenCode has fetched, or that of the folder", async () => {
    const cache = (name: string) => `.cache/opencode/packages/${name}/node_modules/opencode-hudfold/package.json`
    using found = await configOf({
      [cache("opencode-hudfold@latest")]: { name: "opencode-hudfold", version: "1.0.0" },
      "code/project/mine/package.json": { name: "opencode-hudfold", version: "2.0.0" },
      ".config/opencode/opencode.json": { plugin: ["opencode-hudfold"] },
      "code/project/opencode.json": { plugin: ["./mine"] },
    })
    expect(found.listing.ours.map(({ version }) => version)).toEqual(["1.0.0", "2.0.0"])
  })

  test("in two of the global files counts once, since the later list replaces the earlier one", async () => {
    using found = await configOf({
      ".config/opencode/opencode.json": { plugin: [["opencode-hudfold", { deadlineMs: 10 }]] },
      ".config/opencode/opencode.jsonc": { plugin: [["opencode-hudfold", { deadlineMs: 20 }]] },
    })
    expect(found.listing.written.map(({ options }) => options)).toEqual([{ deadlineMs: 20 }])
  })
})
