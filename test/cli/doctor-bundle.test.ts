// The bundle for bug reports: what it contains, and that private data is left out.
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { withoutPrivate } from "../../src/doctor/bundle.ts"
import { list, newPatient, type Patient, trace } from "../doctor/patient.ts"
import { openAt, root, turnOf } from "../store/support.ts"
import { episode, fold } from "../support/status.ts"

let patient: Patient
let file: string
beforeEach(() => {
  patient = newPatient("stub")
  file = join(patient.root, "report.json")
})
afterEach(() => patient[Symbol.dispose]())

/** Secrets of known formats, assembled here so that this file contains none. */
const TOKEN = `sk-${"ant-"}${"Ab1Cd2Ef".repeat(4)}`
const GITHUB = `ghp_${"aZ09".repeat(8)}`
/** A secret without a known format: only its place identifies it. */
const PLAIN = "correct-horse-battery"

async function bundled(...args: string[]) {
  const result = await patient.doctor("--bundle", file, ...args)
  return { ...result, text: readFileSync(file, "utf8"), bundle: JSON.parse(readFileSync(file, "utf8")) }
}

test("contains the checks, versions, options, figures, log lines and the store's counts", async () => {
  list(patient, { hud: { budgetTokens: 150 }, fold: { protectedFiles: ["a/**", "b.md"] } })
  await trace(patient, "ses_1", { calls: 12 })
  await trace(patient, "ses_2")
  await trace(patient, "ses_3")
  await trace(patient, "ses_4", { calls: 7 })
  {
    await using opened = await openAt(join(patient.data, "hud.db"))
    opened.store.saveTurn(turnOf())
  }
  patient.write(
    "data/opencode/log/opencode.log",
    "INFO 1 service=default hudfold: the first\nINFO 2 service=llm what the user asked\nWARN 3 hudfold: the second\n",
  )
  const { code, stdout, bundle } = await bundled()
  expect(code).toBe(0)
  expect(stdout).toMatch(/report\.json is for a bug report\. Read it before you send it/)
  expect(Object.keys(bundle)).toEqual(
    "about versions system machine checks options installed sessions store log".split(" "),
  )
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  expect(bundle.versions).toEqual({ hudfold: version, opencode: "1.18.0", bun: process.versions.bun })
  expect(bundle.checks[0]).toMatchObject({ name: "opencode", level: "ok" })
  expect(bundle.options).toMatchObject({ hud: { budgetTokens: 150 }, fold: { protectedFiles: 2 } })
  expect(bundle.sessions.map(({ sessionID }: { sessionID: string }) => sessionID)).toEqual(["ses_4", "ses_3", "ses_2"])
  expect(bundle.sessions[0]).toMatchObject({
    calls: 7,
    context: { tokens: 87_400 },
    hud: { activity: "on", tokens: 132 },
    folding: {
      ...{ outputs: 12, steps: 39, episodes: 1, kept: { open: 8, settled: 2 } },
      // of the two outputs and the two steps that are listed
      reasons: { free: 1, pays: 3, must: 0, asked: 0 },
    },
    failures: 1,
    stale: 1,
  })
  expect(bundle.store).toMatchObject({ rows: { turn: 1 } })
  expect(bundle.log).toEqual(["INFO 1 service=default hudfold: the first", "WARN 3 hudfold: the second"])
})

test("contains no secret of the options, the log or a status, and nothing the user wrote", async () => {
  patient.write("config/opencode/opencode.json", {
    provider: { anthropic: { options: { apiKey: PLAIN } } },
    plugin: [
      [
        "opencode-hudfold",
        {
          digest: { backend: "openai", openai: { apiKey: PLAIN, model: TOKEN, url: `http://me:${PLAIN}@127.0.0.1:9` } },
        },
      ],
    ],
  })
  const words = "the customer's own words"
  await trace(patient, "ses_1", {
    directory: join(patient.env.HOME ?? "", "customer-shop"),
    hud: { activity: "on", text: `<hud>\ntask "${words}"\n</hud>`, tokens: 10 },
    failures: [{ what: `deploy ${words}`, detail: `${words} ${TOKEN}`, since: 1, times: 1 }],
    stale: [{ path: `customer-shop/${words}.ts`, why: "edited since read" }],
    folding: {
      activity: "on",
      stopped: `Authorization: Bearer ${PLAIN}`,
      outputs: 1,
      steps: 2,
      savedTokens: 1,
      recalls: 0,
      newest: [fold({ what: `read ${words}` })],
      episodes: [
        episode({ record: words, steps: [fold({ kind: "step", what: words, because: words, cutBecause: words })] }),
      ],
      kept: {
        ...{ open: 1, settled: 0, outputs: 0, tokens: 0 },
        reasons: [{ why: words, steps: 1 }],
        newest: [{ step: 3, messageID: "msg_3", tokens: 700, what: words, why: words }],
      },
    },
  })
  patient.write(
    "data/opencode/log/2026-11-22.log",
    [
      `WARN hudfold: could not write ${patient.env.HOME}/customer: ${GITHUB}`,
      `WARN hudfold: the server said token=${PLAIN}`,
      `INFO service=session prompt="${words}"`,
      "",
    ].join("\n"),
  )
  const { text, stdout, bundle } = await bundled()
  for (const secret of [TOKEN, GITHUB, PLAIN, words, "customer-shop", patient.env.HOME ?? "", patient.project]) {
    expect(text).not.toContain(secret)
  }
  expect(stdout).not.toContain(PLAIN)
  expect(bundle.log).toEqual([
    "WARN hudfold: could not write ~/customer: [redacted]",
    "WARN hudfold: the server said token=[redacted]",
  ])
  expect(bundle.options.digest.openai).toMatchObject({ apiKey: "[redacted]", model: "[redacted]" })
})

describe("the file", () => {
  test("is readable by its owner alone, and no other file is left", async () => {
    await bundled()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(patient.root).filter((name) => name.startsWith("report"))).toEqual(["report.json"])
  })

  test("is not overwritten, which is checked before anything else", async () => {
    writeFileSync(file, "mine")
    const { code, stdout, stderr } = await patient.doctor("--bundle", file)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toMatch(/^hudfold: --bundle: \S+ already exists and will not be overwritten; choose another file\n$/)
    expect(readFileSync(file, "utf8")).toBe("mine")
  })

  test("in a missing folder is refused", async () => {
    const { code, stderr } = await patient.doctor("--bundle", join(patient.root, "nowhere/report.json"))
    expect(code).toBe(2)
    expect(stderr).toContain("nowhere is not a folder; create it or choose another one")
    expect(existsSync(join(patient.root, "nowhere"))).toBe(false)
  })

  test("with --json is mentioned on stderr, so that stdout is only JSON", async () => {
    const { stdout, stderr } = await bundled("--json")
    expect(JSON.parse(stdout).level).toBe("fail")
    expect(stderr).toContain("report.json is for a bug report")
  })
})

test("includes the lines of OpenCode 2, which are in the data folder", async () => {
  patient.write("data/opencode/log/opencode.log", "INFO hudfold: of OpenCode 1\n")
  utimesSync(join(patient.root, "data/opencode/log/opencode.log"), 1, 1)
  patient.write("data/opencode-hudfold/opencode2.log", "2026-01-01T00:00:00.000Z warn hudfold: of OpenCode 2\n")
  const { bundle } = await bundled()
  expect(bundle.log).toEqual(["INFO hudfold: of OpenCode 1", "2026-01-01T00:00:00.000Z warn hudfold: of OpenCode 2"])
})

test("includes the last 200 lines of long logs, across files", async () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `INFO hudfold: line ${from + at}\n`).join("")
  patient.write("data/opencode/log/a.log", lines(0, 150))
  utimesSync(join(patient.root, "data/opencode/log/a.log"), 1, 1)
  patient.write("data/opencode/log/b.log", lines(150, 300))
  const { bundle } = await bundled()
  expect(bundle.log).toHaveLength(200)
  expect([bundle.log[0], bundle.log.at(-1)]).toEqual(["INFO hudfold: line 100", "INFO hudfold: line 299"])
})

test("what is private is recognized before a long line is cut", async () => {
  const head = "WARN hudfold: "
  const lines = [`mysql://root:${PLAIN}@db/x`, patient.project].map((secret) => {
    const start = secret.slice(0, -5)
    return `${head}${"x".repeat(1000 - head.length - 1 - start.length)} ${secret}`
  })
  patient.write("data/opencode/log/a.log", `${lines.join("\n")}\n`)
  const { bundle, text } = await bundled()
  for (const line of bundle.log) expect(line.length).toBeLessThanOrEqual(1000)
  expect(text).not.toContain(PLAIN.slice(0, 6))
  expect(bundle.log[1]).toEndWith(" <project>")
})

test("folders are replaced by their role, and others with the same beginning are kept", () => {
  const folders = [
    ["/home/me/shop", "<project>"],
    ["/home/me", "~"],
  ] as const
  const redacted = withoutPrivate({ a: ["/home/me/shop/src", "/home/me/shop2", "/home/me", "/home/meander"] }, folders)
  expect(redacted).toEqual({ a: ["<project>/src", "~/shop2", "~", "/home/meander"] })
})

test("folders are recognised as written in logs and URLs, and a project that contains the home folder hides nothing", () => {
  const folders = [
    ["C:\\Users\\me", "~"],
    ["/home/my name", "~"],
    ["/home", "<project>"],
  ] as const
  const texts = ['path="C:\\\\Users\\\\me\\\\shop"', "file:///home/my%20name/hud", "/home/my name/hud", "/home/you"]
  expect(withoutPrivate(texts, folders)).toEqual(['path="~\\\\shop"', "file://~/hud", "~/hud", "<project>/you"])
})

test("contains neither the folders of other sessions nor the target of a link to the home folder", async () => {
  const elsewhere = "/srv/another-customer"
  const real = patient.write("real-home/file", "").replace(/\/file$/, "")
  rmSync(patient.env.HOME ?? "", { recursive: true })
  symlinkSync(real, patient.env.HOME ?? "")
  await trace(patient, "ses_1", { directory: elsewhere })
  const line = `WARN hudfold: option digest.openai.apiKey: expected string, got 1234567; using the default ${elsewhere} ${real}`
  patient.write("data/opencode/log/opencode.log", `${line}\n`)
  const { bundle } = await bundled()
  expect(bundle.log).toEqual([
    "WARN hudfold: option digest.openai.apiKey: expected string; using the default <project> ~",
  ])
})
