// Secrets of every kind, by every way into a session: neither a secret nor half of one is in anything the plugin itself sends,
// asks a model, stores, logs or shows. Recalled outputs have them, since the session has them.

import { afterAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cli, writeExport } from "../cli/support.ts"
import { searcher } from "../support/planted.ts"
import { play } from "../support/secret-session.ts"
import { sized } from "../support/size.ts"

const played = await play()
afterAll(() => played.remove())

const places = new Map([...played.places, ...(await shown())])
const search = searcher(played.planted)
const found = new Map([...places].map(([place, text]) => [place, search(text)]))

/** What the commands print and write of the same session. */
async function shown(): Promise<[string, string][]> {
  const { folder, data, session } = played
  const env = { HUDFOLD_DATA: data, XDG_DATA_HOME: join(folder, "data"), HOME: folder, TMPDIR: folder }
  const file = writeExport(folder, "planted", session)
  const at = (name: string) => join(folder, name)
  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await cli(args, env)
    return stdout + stderr
  }
  const calls = session.messages.filter(({ info }) => info.role === "assistant").length
  const inspected: string[] = []
  const step = Math.ceil(calls / sized(3, 20))
  for (let call = step - 1; call < calls; call += step)
    inspected.push(await run("inspect", file, "--call", String(call)))
  const [report, replay, status, statusJson, bundle] = await Promise.all([
    run("report", file, "--out", at("report.html")),
    run("replay", file, "--json"),
    run("status", "ses_test"),
    run("status", "ses_test", "--json"),
    run("doctor", "--bundle", at("bundle.json"), "--dir", folder),
  ])
  return [
    ["hudfold inspect", inspected.join("\n")],
    ["hudfold report", report],
    ["the report", readFileSync(at("report.html"), "latin1")],
    ["hudfold replay --json", replay],
    ["hudfold status", status + statusJson],
    ["hudfold doctor", bundle],
    ["the bundle", readFileSync(at("bundle.json"), "latin1")],
  ]
}

test.each(played.planted.map(({ name }) => name))("%s is nowhere", (name) => {
  expect([...found].flatMap(([place, names]) => (names.has(name) ? [place] : []))).toEqual([])
})

test(`0 of ${played.planted.length} leak to any place, and every place had content to search`, () => {
  expect(new Set([...found.values()].flatMap((names) => [...names]))).toEqual(new Set())
  expect(played.planted.length).toBeGreaterThan(200)
  expect(played.folds).toBeGreaterThan(80)
  expect(played.asked).toBeGreaterThan(5)
  expect([...places.keys()].filter((place) => place.startsWith("the file"))).toContain("the file hud.db")
  const held = ["what was sent", "the compaction", "the file hud.db", "the report", "the bundle", "hudfold inspect"]
  for (const place of held) expect(places.get(place)?.length, place).toBeGreaterThan(500)
})

test("the search finds all of them in the session itself", () => {
  expect(search(JSON.stringify(played.session.messages)).size).toBe(played.planted.length)
})

test("recall returns outputs verbatim, with their secrets", () => {
  expect(played.recalled.length).toBe(played.folds)
  for (const { answer, original } of played.recalled) expect(answer).toBe(original)
  expect(search(played.recalled.map(({ answer }) => answer).join("\n")).size).toBeGreaterThan(50)
})
