// `hudfold doctor` on whole machines: a fresh one, a healthy one, and one per possible problem.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, copyFileSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import type { CheckResult } from "../../src/doctor/result.ts"
import { inShell } from "../../src/text/format.ts"
import { list, newPatient, type Patient, type Program, soundPatient, trace } from "../doctor/patient.ts"
import { root, temporaryFolder, until } from "../store/support.ts"
import { writeTinyModel } from "../support/gguf.ts"
import { testLarge } from "../support/large.ts"
import { bundleInto, type Recorded, recordSession, source } from "./support.ts"

setDefaultTimeout(60_000)

const shared = temporaryFolder()
const tiny = join(shared.path, "tiny.gguf")
let recorded: Recorded
beforeAll(async () => {
  ;[recorded] = await Promise.all([recordSession(), writeTinyModel(tiny)])
}, 120_000)
afterAll(async () => {
  await recorded?.close()
  shared[Symbol.dispose]()
})

const sound = (program: Program = "stub"): Promise<Patient> =>
  soundPatient({ folder: join(recorded.env.XDG_DATA_HOME, "opencode"), session: recorded.session }, tiny, program)

async function onNode({ project, env }: Patient) {
  const program = await bundleInto(shared.path)
  const command = [Bun.which("node") ?? "node", program, "doctor", "--json", "--dir", project]
  const child = Bun.spawn(command, { env, stdout: "pipe" })
  return { ...JSON.parse(await new Response(child.stdout).text()), code: await child.exited }
}

/** The checks that are not `ok`, one in these tests. */
function wrong(checks: readonly CheckResult[]): CheckResult[] {
  return checks.filter(({ level }) => level !== "ok")
}

describe("a fresh machine", () => {
  test("without OpenCode it fails, and says what to install and to list", async () => {
    using patient = newPatient("none")
    const { code, level, checks } = await patient.examine()
    expect({ code, level }).toEqual({ code: 2, level: "fail" })
    expect(wrong(checks)).toEqual([
      {
        name: "opencode",
        level: "fail",
        found: "opencode is not on PATH",
        fix: "install it (https://opencode.ai) or put it on PATH",
      },
      expect.objectContaining({
        name: "plugin",
        level: "fail",
        fix: expect.stringContaining(`opencode plugin ${inShell(resolve(root))} (`),
      }),
    ])
  })

  test("having no model yet is ok, and so is having no store", async () => {
    using patient = newPatient("stub")
    const { checks } = await patient.examine()
    const found = Object.fromEntries(checks.map((check) => [check.name, check]))
    expect(found.opencode).toMatchObject({ level: "ok", found: expect.stringMatching(/^version \d+\.\d+\.\d+ in /) })
    expect(found.digests).toEqual({
      name: "digests",
      level: "ok",
      found: "made without a model; none is set up, and none is needed",
    })
    expect(found.store).toMatchObject({ level: "ok", found: expect.stringContaining("none yet") })
    expect(wrong(checks).map(({ name }) => name)).toEqual(["plugin"])
  })
})

describe("a healthy machine", () => {
  test("every line is ok, in order, and the exit code is 0", async () => {
    using patient = await sound("real")
    const { code, stdout, stderr } = await patient.doctor()
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const lines = stdout.trimEnd().split("\n")
    expect(lines.splice(-2)).toEqual(["", "everything is ok"])
    const names = lines.map((line) => /^ok {4}(\w+) /.exec(line)?.[1])
    expect(names).toEqual(
      "opencode config plugin panel version options conflicts loaded engine model gpu store".split(" "),
    )
    expect(stdout).toContain(`its hooks ran in session ${recorded.session} in /`)
    expect(stdout).toContain("checksum verified")
    expect(stdout).not.toContain("\u001b")
  })

  test("a project that lists the plugin again with options of its own is ok", async () => {
    using patient = await sound()
    patient.write("project/.opencode/opencode.jsonc", { plugin: [[root, { digest: { gpu: "off" } }]] })
    const { checks } = await patient.examine()
    expect(checks.find(({ name }) => name === "plugin")).toEqual({
      name: "plugin",
      level: "ok",
      found: expect.stringMatching(
        /^"\S+" in \S+\/opencode\.jsonc, which counts in place of the entry in \S+config\/opencode\/opencode\.json$/,
      ),
    })
  })

  test("as JSON it has the same lines, the version and the worst level", async () => {
    using patient = await sound()
    const { stdout } = await patient.doctor("--json")
    const { checks, ...rest } = JSON.parse(stdout)
    expect(rest).toEqual({ hudfold: manifest.version, level: "ok" })
    expect(checks).toHaveLength(12)
    for (const check of checks) expect(check).toEqual({ name: check.name, level: "ok", found: expect.any(String) })
  })

  test("on Node it prints the same, by OpenCode's own Bun if Node has no SQLite", async () => {
    using patient = await sound("real")
    const { checks, level, code } = await onNode(patient)
    expect(wrong(checks)).toEqual([])
    expect({ code, level }).toEqual({ code: 0, level: "ok" })
    expect(checks.find((check: CheckResult) => check.name === "store").found).toContain(", intact, ")
  })

  test("on Node with an OpenCode that is not Bun, it skips the databases", async () => {
    using patient = await sound()
    const { checks, code } = await onNode(patient)
    expect(wrong(checks)).toMatchObject([
      { name: "store", level: "warn", found: expect.stringContaining("not checked") },
    ])
    expect(code).toBe(1)
  })

  test("--test runs the model and says how fast it is", async () => {
    using patient = await sound("real")
    const { code, checks } = await patient.examine("--test")
    expect(wrong(checks)).toEqual([])
    expect(code).toBe(0)
    expect(checks.find(({ name }) => name === "speed")?.found).toMatch(
      /^it runs on the processor .*: it fits this machine/,
    )
  })
})

test("--test runs the model as the options say", async () => {
  using patient = await sound("real")
  list(patient, { digest: { gpu: "off", memoryMB: 1 } })
  const { code, checks } = await patient.examine("--test")
  expect(wrong(checks)).toMatchObject([
    {
      name: "speed",
      level: "fail",
      found: expect.stringMatching(/the option digest\.memoryMB allows 1 MB/),
      fix: expect.stringContaining("hudfold setup --uninstall --keep-models, then hudfold setup"),
    },
  ])
  expect(code).toBe(2)
})

test("--test runs the model that the options name", async () => {
  using patient = await sound("real")
  const other = patient.write("data/opencode-hudfold/models/owner/repository/other.gguf", "")
  await writeTinyModel(other, { fault: "header" })
  list(patient, { digest: { gpu: "off", model: other } })
  const { checks } = await patient.examine("--test")
  expect(wrong(checks)).toMatchObject([{ name: "speed", level: "fail", found: expect.stringContaining(other) }])
})

/** What each case breaks, the one check that is not ok, and the exit code. */
const BROKEN: {
  name: string
  breaks: (patient: Patient) => void | Promise<void>
  says: { name: string; level: "warn" | "fail"; found: RegExp; fix: RegExp }
}[] = [
  {
    name: "an old OpenCode",
    breaks: ({ root }) => {
      writeFileSync(join(root, "bin/opencode"), "#!/bin/sh\necho 1.2.3\n", { mode: 0o755 })
    },
    says: { name: "opencode", level: "fail", found: /^version 1\.2\.3 .*needs >=1\.18\.0$/, fix: /opencode upgrade/ },
  },
  {
    name: "a config that is not JSON",
    breaks: ({ write }) => void write("project/opencode.json", '{ "model": "a/b" "theme": 1 }'),
    says: {
      name: "config",
      level: "fail",
      found: /project\/opencode\.json is not valid JSON, and OpenCode does not start with it$/,
      fix: /^correct it; `opencode debug config` says where; comments and trailing commas are fine$/,
    },
  },
  {
    name: "the config that lists the plugin is not JSON, which says nothing about the rest",
    breaks: ({ write }) =>
      void write(
        "config/opencode/opencode.json",
        `{\n  // ours\n  "username": "{env:HOME}", "plugin": [["${root}" {}]],\n}`,
      ),
    says: {
      name: "config",
      level: "fail",
      found: /opencode\.json is not valid JSON, /,
      fix: /^correct it/,
    },
  },
  {
    name: "the file that lists the panel is not JSON, which says nothing about the panel",
    breaks: ({ write }) => void write("config/opencode/tui.json", `{ "plugin": ["${root}"]\n`),
    says: {
      name: "config",
      level: "warn",
      found: /tui\.json is not valid JSON, and OpenCode ignores it$/,
      fix: /^correct it; comments and trailing commas are fine$/,
    },
  },
  {
    name: "a plugin path that does not exist",
    breaks: ({ write }) =>
      void write("config/opencode/opencode.json", {
        plugin: [["./opencode-hudfold/plugin.ts", { digest: { gpu: "off" } }]],
      }),
    says: {
      name: "plugin",
      level: "fail",
      found: /there is nothing at \S+\/opencode-hudfold\/plugin\.ts$/,
      fix: /correct the path/,
    },
  },
  {
    name: "a plugin path with ~",
    breaks: ({ write }) => void write("config/opencode/opencode.json", { plugin: ["~/plugins/package"] }),
    says: {
      name: "plugin",
      level: "fail",
      found: /there is nothing at \S+\/config\/opencode\/~\/plugins\/package$/,
      fix: /correct the path/,
    },
  },
  {
    name: "a plugin path that does not exist and does not name the plugin",
    breaks: ({ write }) => void write("config/opencode/opencode.json", { plugin: ["../checkouts/hud"] }),
    says: {
      name: "plugin",
      level: "fail",
      found: /^"\.\.\/checkouts\/hud" in \S+opencode\.json, and there is nothing at \S+\/config\/checkouts\/hud$/,
      fix: /^correct the path in \S+opencode\.json, or list "[^"]+"$/,
    },
  },
  {
    name: "a package that was never fetched",
    breaks: (patient) => {
      rmSync(join(patient.data, "sessions"), { recursive: true })
      listInBoth(patient, "opencode-hudfold@0.1.0")
    },
    says: {
      name: "version",
      level: "warn",
      found: /^OpenCode has not fetched "opencode-hudfold@0\.1\.0" in \S+opencode\.json, so nothing of it is loaded$/,
      fix: /^restart OpenCode with a connection to npm's registry; .*`opencode serve --print-logs`/,
    },
  },
  {
    name: "two versions side by side, a package and a folder",
    breaks: ({ root: home, write }) => {
      write("other/package.json", { name: "opencode-hudfold", version: "0.0.9" })
      write("project/opencode.json", { plugin: [[join(home, "other"), { digest: { gpu: "off" } }]] })
    },
    says: {
      name: "plugin",
      level: "warn",
      found: new RegExp(
        `^listed 2 times \\(${manifest.version} as "\\S+" in \\S+; 0\\.0\\.9 as "\\S+other" in \\S+project/opencode\\.json\\), and OpenCode loads each entry$`,
      ),
      fix: /^keep one of them, preferably the last one in \S+project\/opencode\.json$/,
    },
  },
  {
    name: "a second copy in a folder whose files are all loaded",
    breaks: ({ write }) => void write("project/.opencode/plugin/hudfold.js", "export default {}"),
    says: {
      name: "plugin",
      level: "warn",
      found: /and OpenCode loads \S+\/plugin\/hudfold\.js too, since it loads every file there$/,
      fix: /^keep one of them: move \S+hudfold\.js away, or remove the entry$/,
    },
  },
  {
    name: "the same folder, with a slash at its end",
    breaks: ({ write }) => void write("project/opencode.json", { plugin: [[`${root}/`, { digest: { gpu: "off" } }]] }),
    says: {
      name: "plugin",
      level: "warn",
      found: /^listed 2 times .* and OpenCode loads each entry$/,
      fix: /^keep one of them/,
    },
  },
  {
    name: "a missing panel",
    breaks: ({ config }) => rmSync(join(config, "tui.json")),
    says: {
      name: "panel",
      level: "warn",
      found: /^no tui\.json lists the plugin/,
      fix: /^opencode plugin \S+ --global; or add "\S+" to "plugin" in \S+\/tui\.json, then restart OpenCode$/,
    },
  },
  {
    name: "a panel that is switched off",
    breaks: ({ write }) =>
      void write("config/opencode/tui.json", { plugin: [root], plugin_enabled: { "opencode-hudfold": false } }),
    says: { name: "panel", level: "warn", found: /switched off in \S+\/tui\.json$/, fix: /"plugin_enabled"/ },
  },
  {
    name: "a panel that was switched off in the TUI",
    breaks: ({ write }) => void write("state/opencode/kv.json", { plugin_enabled: { "opencode-hudfold": false } }),
    says: { name: "panel", level: "warn", found: /switched off in \S+\/kv\.json$/, fix: /command palette/ },
  },
  {
    name: "a plugin listed twice in one file",
    breaks: ({ write }) =>
      void write("config/opencode/opencode.json", { plugin: [root, [root, { digest: { gpu: "off" } }]] }),
    says: {
      name: "plugin",
      level: "warn",
      found: /^listed 2 times /,
      fix: /^keep one of them, preferably the last one in \S+\/opencode\.json$/,
    },
  },
  {
    name: "a command that is older than the plugin",
    breaks: ({ write }) => {
      const cached = "cache/opencode/packages/opencode-hudfold@latest/node_modules/opencode-hudfold"
      write(`${cached}/package.json`, { name: "opencode-hudfold", version: "99.0.0" })
      listInBoth({ write }, "opencode-hudfold")
    },
    says: {
      name: "version",
      level: "warn",
      found: /^OpenCode loads 99\.0\.0, and this command is /,
      fix: /^use the same version: npx opencode-hudfold@99\.0\.0 doctor$/,
    },
  },
  {
    name: "a panel entry that is the server plugin",
    breaks: ({ write }) => {
      const file = join(root, "src/plugin.ts")
      write("config/opencode/opencode.json", { plugin: [[file, { digest: { gpu: "off" } }]] })
      write("config/opencode/tui.json", { plugin: [file] })
    },
    says: {
      name: "panel",
      level: "warn",
      found: /is the server plugin, which has no panel$/,
      fix: /^list the folder there instead, "\S+"[,;]/,
    },
  },
  {
    name: "a folder inside the package",
    breaks: ({ write }) => {
      const plugin = [[join(root, "src"), { digest: { gpu: "off" } }]]
      write("config/opencode/opencode.json", { plugin })
    },
    says: {
      name: "plugin",
      level: "fail",
      found: /src" in \S+\/opencode\.json, and OpenCode finds no plugin in that folder$/,
      fix: /^list "\S+" instead$/,
    },
  },
  {
    name: "a folder inside the package as the panel",
    breaks: ({ write }) => void write("config/opencode/tui.json", { plugin: [join(root, "src")] }),
    says: {
      name: "panel",
      level: "warn",
      found: /src" in \S+\/tui\.json, and OpenCode finds no plugin in that folder$/,
      fix: /^list "\S+" instead$/,
    },
  },
  {
    name: "a panel from a tarball",
    breaks: ({ write }) => {
      const plugin = ["opencode-hudfold@file:/tmp/hudfold.tgz"]
      write("config/opencode/tui.json", { plugin })
    },
    says: {
      name: "panel",
      level: "warn",
      found: /@file:\/tmp\/hudfold\.tgz" in \S+\/tui\.json, and OpenCode loads no panel from a tarball$/,
      fix: /^unpack the tarball and list the folder in both files, then restart OpenCode$/,
    },
  },
  {
    name: "a row that the panel does not have",
    breaks: ({ write }) => void write("config/opencode/tui.json", { plugin: [[root, { rows: ["contex", "saved"] }]] }),
    says: {
      name: "panel",
      level: "warn",
      found: /^rows: expected a list of saved, .*; ignored: "contex"$/,
      fix: /^correct the panel's options in \S+\/tui\.json$/,
    },
  },
  {
    name: "the plugin's options are in tui.json",
    breaks: ({ write }) => void write("config/opencode/tui.json", { plugin: [[root, { fold: { enabled: false } }]] }),
    says: {
      name: "panel",
      level: "warn",
      found: /^the panel has no option but "rows", so fold belongs in the plugin's entry in opencode\.json$/,
      fix: /^correct the panel's options in \S+\/tui\.json$/,
    },
  },
  {
    name: "a plugin of another version than the command",
    breaks: ({ root, write }) => {
      write("other/package.json", { name: "opencode-hudfold", version: "0.0.9" })
      listInBoth({ write }, join(root, "other"))
    },
    says: {
      name: "version",
      level: "warn",
      found: /^OpenCode loads 0\.0\.9, and this command is /,
      fix: /^update \S+\/other; /,
    },
  },
  {
    name: "a plugin that OpenCode fetched long ago",
    breaks: ({ write }) => {
      const cached = "cache/opencode/packages/opencode-hudfold@latest/node_modules/opencode-hudfold"
      write(`${cached}/package.json`, { name: "opencode-hudfold", version: "0.0.9" })
      listInBoth({ write }, "opencode-hudfold")
    },
    says: {
      name: "version",
      level: "warn",
      found: /^OpenCode loads 0\.0\.9, and this command is /,
      fix: /^list "opencode-hudfold@\d+\.\d+\.\d+" in place of "opencode-hudfold", since OpenCode never updates a plugin/,
    },
  },
  {
    name: "a panel of another version",
    breaks: ({ write }) => {
      write("other/package.json", { name: "opencode-hudfold", version: "0.0.9" })
      write("config/opencode/tui.json", { plugin: ["../../other"] })
    },
    says: {
      name: "version",
      level: "warn",
      found: /^the plugin is \S+ \(.*\), its panel 0\.0\.9 \(.*\)$/,
      fix: /^list the same folder or version in both files/,
    },
  },
  {
    name: "a last session with another version",
    breaks: (patient) => trace(patient, recorded.session, { plugin: "0.0.9" }),
    says: { name: "version", level: "warn", found: /the last session ran 0\.0\.9$/, fix: /^restart OpenCode$/ },
  },
  {
    name: "a wrong option",
    breaks: (patient) => list(patient, { hud: { slot: "top" }, digest: { gpu: "off" } }),
    says: {
      name: "options",
      level: "fail",
      found: /^option hud\.slot: expected one of "auto", .*, got "top"; using "auto"$/,
      fix: /^correct hud\.slot in \S+\/opencode\.json$/,
    },
  },
  {
    name: "a key in place of a group, which is not shown",
    breaks: (patient) => list(patient, { digest: { gpu: "off", openai: [{ apiKey: "onlyletters" }] } }),
    says: {
      name: "options",
      level: "fail",
      found: /^option digest\.openai: expected an object; using /,
      fix: /openai/,
    },
  },
  {
    name: "a wrong API key, which is not shown",
    breaks: (patient) => list(patient, { digest: { gpu: "off", openai: { apiKey: 1234512345 } } }),
    says: {
      name: "options",
      level: "fail",
      found: /^option digest\.openai\.apiKey: expected a string; using /,
      fix: /apiKey/,
    },
  },
  {
    name: "a plugin that is switched off",
    breaks: (patient) => list(patient, { enabled: false, digest: { gpu: "off" } }),
    says: { name: "options", level: "warn", found: /^the plugin is switched off$/, fix: /"enabled": false/ },
  },
  {
    name: "DCP is installed too",
    breaks: ({ write }) => void write("project/opencode.json", { plugin: ["@tarquinen/opencode-dcp@latest"] }),
    says: {
      name: "conflicts",
      level: "warn",
      found: /^DCP prunes the context too \(\S+project\/opencode\.json\)/,
      fix: /^keep one: remove DCP from .*, or set "fold": \{ "enabled": false \} in the options of opencode-hudfold$/,
    },
  },
  {
    name: "a plugin that is listed and was not loaded",
    breaks: ({ data, config }) => {
      rmSync(join(data, "sessions"), { recursive: true })
      utimesSync(join(config, "opencode.json"), 1, 1)
    },
    says: {
      name: "loaded",
      level: "warn",
      found: /^listed, but the last session \(ses_\w+, .* ago\) left no trace of it$/,
      fix: /^restart OpenCode; if that does not help, node -e 'import\("[^"]+dist\/plugin\.js"\)' prints why it cannot be loaded$/,
    },
  },
  {
    name: "a plugin that was listed after the last session",
    breaks: ({ data, config }) => {
      rmSync(join(data, "sessions"), { recursive: true })
      utimesSync(join(config, "opencode.json"), new Date(), new Date())
    },
    says: {
      name: "loaded",
      level: "warn",
      found: /^listed, but no session has called a model since$/,
      fix: /^restart OpenCode and send it a message$/,
    },
  },
  {
    name: "a config that was changed after the last session",
    breaks: ({ config }) => utimesSync(join(config, "opencode.json"), new Date(), new Date(Date.now() + 1000)),
    says: {
      name: "loaded",
      level: "warn",
      found: /^its hooks ran in session ses_\w+ in \S+ \(.*\), but not since \S+opencode\.json was changed \(.* ago\)$/,
      fix: /^restart OpenCode and send it a message$/,
    },
  },
  {
    name: "an engine with another protocol",
    breaks: ({ data }) => change(join(data, "sidecar/installed.json"), (record) => ({ ...record, protocol: 99 })),
    says: {
      name: "engine",
      level: "fail",
      found: /^it speaks protocol 99, this plugin \d+/,
      fix: /^hudfold setup/,
    },
  },
  {
    name: "an engine whose installation was not finished",
    breaks: ({ data }) => rmSync(join(data, "sidecar/installed.json")),
    says: { name: "engine", level: "fail", found: /was not finished$/, fix: /^hudfold setup/ },
  },
  {
    name: "an engine that was uninstalled, with a model that was kept",
    breaks: ({ data }) => rmSync(join(data, "sidecar"), { recursive: true }),
    says: {
      name: "engine",
      level: "warn",
      found: /^it is not installed, so digests are made without a model$/,
      fix: /^hudfold setup, /,
    },
  },
  {
    name: "an engine that is not installed where the options ask for it",
    breaks: (patient) => {
      rmSync(join(patient.data, "sidecar"), { recursive: true })
      list(patient, { digest: { backend: "llama", gpu: "off" } })
    },
    says: { name: "engine", level: "fail", found: /^it is not installed, /, fix: /^hudfold setup, / },
  },
  {
    name: "an engine without the program that runs it",
    breaks: (patient) => list(patient, { digest: { gpu: "off", runtime: "node" } }),
    says: {
      name: "engine",
      level: "fail",
      found: /^the option digest\.runtime is "node", and no node is on PATH$/,
      fix: /^put one there or use "auto"$/,
    },
  },
  {
    name: "an engine without one of its packages",
    breaks: ({ data }) =>
      change(join(data, "sidecar/installed.json"), (record) => ({
        ...record,
        variants: [...(record.variants as string[]), "@node-llama-cpp/of-no-machine"],
      })),
    says: {
      name: "engine",
      level: "fail",
      found: /@node-llama-cpp\/of-no-machine is missing$/,
      fix: /^hudfold setup --uninstall --keep-models, then hudfold setup$/,
    },
  },
  {
    name: "an engine without its program",
    breaks: ({ data }) => rmSync(join(data, "sidecar/main.js")),
    says: { name: "engine", level: "fail", found: /sidecar\/main\.js is missing$/, fix: /^hudfold setup/ },
  },
  {
    name: "an engine without a model",
    breaks: ({ data }) => rmSync(join(data, "model.json")),
    says: {
      name: "model",
      level: "warn",
      found: /^none is chosen, so digests are made without$/,
      fix: /^hudfold setup, or /,
    },
  },
  {
    name: "a missing model",
    breaks: ({ data }) =>
      change(join(data, "model.json"), (record) => ({ ...record, name: "smollm2-135m", path: "/nowhere/model.gguf" })),
    says: {
      name: "model",
      level: "fail",
      found: /^\/nowhere\/model\.gguf is not a model: .*got no such file$/,
      fix: /^hudfold setup --model smollm2-135m; or choose another/,
    },
  },
  {
    name: "a model whose content has changed",
    breaks: ({ root, data }) => {
      const path = join(root, "model.gguf")
      const bytes = readFileSync(tiny)
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
      writeFileSync(path, bytes)
      change(join(data, "model.json"), (record) => ({ ...record, path }))
    },
    says: {
      name: "model",
      level: "fail",
      found: /\/model\.gguf is damaged: its checksum has changed$/,
      fix: /^restore the file, or use it as it is: hudfold model use \S+\/model\.gguf$/,
    },
  },
  {
    name: "a truncated model",
    breaks: ({ root, data }) => {
      const path = join(root, "model.gguf")
      copyFileSync(tiny, path)
      truncateSync(path, 1000)
      change(join(data, "model.json"), (record) => ({ ...record, path }))
    },
    says: {
      name: "model",
      level: "fail",
      found: /has 1000 bytes, but had \d+ when it was chosen$/,
      fix: /^restore the file/,
    },
  },
  {
    name: "a model that is a web page",
    breaks: ({ root, data }) => {
      const path = join(root, "model.gguf")
      writeFileSync(path, "<!doctype html>")
      change(join(data, "model.json"), (record) => ({ ...record, path }))
    },
    says: {
      name: "model",
      level: "fail",
      found: /expected a GGUF file of version 2 or 3, got a web page/,
      fix: /choose another/,
    },
  },
  {
    name: "a damaged store",
    breaks: ({ data }) => writeFileSync(join(data, "hud.db"), "not a database, whatever its name says ".repeat(100)),
    says: {
      name: "store",
      level: "fail",
      found: /hud\.db is damaged \(/,
      fix: /^nothing to do: .*mv \S+\/hud\.db \S+\/hud\.db\.old$/,
    },
  },
  {
    name: "a store with a page of garbage",
    breaks: ({ data }) => {
      const path = join(data, "hud.db")
      const bytes = readFileSync(path)
      bytes.fill(0xab, 4096, 8192)
      writeFileSync(path, bytes)
    },
    says: { name: "store", level: "fail", found: /hud\.db is damaged \(/, fix: /sets it aside/ },
  },
  {
    name: "a pipe in the store's place",
    breaks: ({ data }) => {
      rmSync(join(data, "hud.db"))
      Bun.spawnSync(["mkfifo", "-m", "600", join(data, "hud.db")])
    },
    says: { name: "store", level: "fail", found: /hud\.db is not a file$/, fix: /^move it away; / },
  },
  {
    name: "a store that others can read",
    breaks: ({ data }) => chmodSync(join(data, "hud.db"), 0o644),
    says: {
      name: "store",
      level: "warn",
      found: /^others on this machine can read \S+\/hud\.db$/,
      fix: /^chmod 600 \S+\/hud\.db$/,
    },
  },
]

/** Variations of others, most of which `test/doctor` has too. */
const FURTHER = [
  "a plugin path that does not exist and does not name the plugin",
  "a plugin listed twice in one file",
  "a panel that is switched off",
  "a plugin of another version than the command",
  "a panel of another version",
  "a panel that was switched off in the TUI",
  "the config that lists the plugin is not JSON, which says nothing about the rest",
  "the file that lists the panel is not JSON, which says nothing about the panel",
  "a second copy in a folder whose files are all loaded",
  "a command that is older than the plugin",
  "a plugin that OpenCode fetched long ago",
  "a plugin that was listed after the last session",
  "an engine with another protocol",
  "an engine without one of its packages",
  "a truncated model",
  "a model that is a web page",
  "a store with a page of garbage",
  "a key in place of a group, which is not shown",
  "a config that was changed after the last session",
  "an engine whose installation was not finished",
]

function listInBoth({ write }: Pick<Patient, "write">, spec: string): void {
  write("config/opencode/opencode.json", { plugin: [[spec, { digest: { gpu: "off" } }]] })
  write("config/opencode/tui.json", { plugin: [spec] })
}

function change(path: string, how: (record: Record<string, unknown>) => object): void {
  writeFileSync(path, JSON.stringify(how(JSON.parse(readFileSync(path, "utf8")))))
}

describe("one problem gives one line that is not ok:", () => {
  for (const { name, breaks, says } of BROKEN) {
    const one = FURTHER.includes(name) ? testLarge : test
    one(name, async () => {
      using patient = await sound()
      await breaks(patient)
      const { code, level, checks } = await patient.examine()
      expect(wrong(checks)).toEqual([
        { ...says, found: expect.stringMatching(says.found), fix: expect.stringMatching(says.fix) },
      ])
      expect({ code, level }).toEqual({ code: says.level === "fail" ? 2 : 1, level: says.level })
    })
  }
})

describe("OpenCode 2", () => {
  async function second(): Promise<Patient> {
    const patient = await sound()
    writeFileSync(join(patient.root, "bin/opencode"), "#!/bin/sh\necho 2.0.20\n", { mode: 0o755 })
    rmSync(join(patient.config, "tui.json"))
    return patient
  }
  const options = { digest: { gpu: "off" } }

  for (const [form, config] of [
    ["its own form", { plugins: [{ package: root, options }] }],
    ["OpenCode 1's form", { plugin: [[root, options]] }],
  ] as const)
    test(`a plugin listed in ${form} is found, with its options, and its panel needs no tui.json`, async () => {
      using patient = await second()
      patient.write("config/opencode/opencode.json", config)
      const { code, checks } = await patient.examine()
      expect(wrong(checks)).toEqual([])
      expect(checks.find(({ name }) => name === "options")?.found).toBe("valid: digest")
      expect(code).toBe(0)
    })

  test("a plugin listed under both keys is listed twice", async () => {
    using patient = await second()
    patient.write("config/opencode/opencode.json", { plugin: [[root, options]], plugins: [{ package: root, options }] })
    expect(wrong((await patient.examine()).checks)).toMatchObject([{ name: "plugin", level: "warn" }])
  })

  test("a file, which it does not load, is named with the folder to list", async () => {
    using patient = await second()
    patient.write("config/opencode/opencode.json", { plugins: [{ package: join(root, "dist/plugin.js"), options }] })
    expect(wrong((await patient.examine()).checks)).toMatchObject([
      { name: "plugin", level: "fail", found: expect.stringMatching(/and OpenCode 2 loads no single files$/) },
    ])
  })

  test("without an entry, the fix is one that it knows", async () => {
    using patient = await second()
    patient.write("config/opencode/opencode.json", {})
    const [check] = wrong((await patient.examine()).checks)
    expect(check).toMatchObject({ name: "plugin", level: "fail" })
    expect(check?.fix).toMatch(/^add ".+" to "plugin" in \S+opencode\.json, then run opencode service restart$/)
  })
})

test("OpenCode 1 reads no list of OpenCode 2", async () => {
  using patient = await sound()
  patient.write("config/opencode/opencode.json", { plugins: [{ package: root }] })
  expect(wrong((await patient.examine()).checks)).toMatchObject([{ name: "plugin", level: "fail" }])
})

test("a model that the options name is looked for although nothing is set up", async () => {
  using patient = newPatient("stub")
  list(patient, { digest: { model: "/nowhere/model.gguf" } })
  const { checks } = await patient.examine()
  expect(checks.find(({ name }) => name === "model")).toMatchObject({
    level: "fail",
    found: expect.stringMatching(/^option digest\.model: .*got "\/nowhere\/model\.gguf"$/),
    fix: "correct digest.model, or remove it",
  })
})

test("with folding switched off, another plugin that prunes is not a conflict", async () => {
  using patient = await sound()
  list(patient, { fold: { enabled: false }, digest: { gpu: "off" } })
  patient.write("project/opencode.json", { plugin: ["opencode-acp"] })
  const { code, checks } = await patient.examine()
  expect(wrong(checks)).toEqual([])
  expect(code).toBe(0)
  expect(checks.find(({ name }) => name === "conflicts")?.found).toContain("fold.enabled is false here")
})

test("a store that is switched off is ok", async () => {
  using patient = await sound()
  list(patient, { store: { enabled: false }, digest: { gpu: "off" } })
  const { checks } = await patient.examine()
  expect(checks.filter(({ name }) => name === "store")).toEqual([
    { name: "store", level: "ok", found: "kept in memory (store.enabled is false)" },
  ])
})

test("OPENCODE_PURE, which disables all plugins, is a separate failure", async () => {
  using patient = await sound()
  patient.env.OPENCODE_PURE = "1"
  const { code, checks } = await patient.examine()
  expect(wrong(checks)).toMatchObject([{ name: "plugin", level: "fail", fix: "unset OPENCODE_PURE" }])
  expect(code).toBe(2)
})

test("for people, every problem is printed with its fix below it, and counted", async () => {
  using patient = await sound()
  rmSync(join(patient.data, "sidecar/main.js"))
  rmSync(join(patient.config, "tui.json"))
  const { code, stdout } = await patient.doctor()
  expect(code).toBe(2)
  expect(stdout).toMatch(/^fail {2}engine {5}\S+main\.js is missing\n {17}fix: hudfold setup, which installs it$/m)
  expect(stdout).toEndWith("\n\n1 failure, 1 warning, 10 ok\n")
})

test("a secret in an option's value is not shown", async () => {
  using patient = await sound()
  const secret = `sk-${"proj-"}${"a1B2c3D4".repeat(4)}`
  list(patient, { digest: { backend: secret, gpu: "off" } })
  const { code, stdout } = await patient.doctor()
  expect(code).toBe(2)
  expect(stdout).toContain("option digest.backend: expected one of")
  expect(stdout).not.toContain(secret)
})

test("an interrupt during the check of a large model ends it and changes nothing", async () => {
  using patient = await sound()
  const path = join(patient.root, "large.gguf")
  copyFileSync(tiny, path)
  truncateSync(path, 32e9)
  change(join(patient.data, "model.json"), (record) => ({ ...record, path, sizeBytes: 32e9 }))
  const child = Bun.spawn([process.execPath, source, "doctor", "--dir", patient.project], {
    env: { ...patient.env },
    stdout: "pipe",
    stderr: "pipe",
  })
  let stdout = ""
  const reading = (async () => {
    for await (const chunk of child.stdout) stdout += Buffer.from(chunk).toString()
  })()
  await until(() => stdout.includes("engine") || child.exitCode !== null, 30_000)
  child.kill("SIGINT")
  expect(await child.exited).toBe(130)
  await reading
  expect(stdout).not.toContain("model  ")
  expect(await new Response(child.stderr).text()).toBe("hudfold: interrupted; nothing was changed\n")
})
