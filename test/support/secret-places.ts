// The places where people see a session outside OpenCode: what each command prints of it, and what it writes.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cli, writeExport } from "../cli/support.ts"
import type { Played } from "./secret-session.ts"

/** What the commands print and write of a session that was played; `inspections` of its calls are inspected. */
export async function printedOf(
  { folder, data, session, title }: Played,
  inspections: number,
): Promise<[string, string][]> {
  const env = { HUDFOLD_DATA: data, XDG_DATA_HOME: join(folder, "data"), HOME: folder, TMPDIR: folder }
  const file = writeExport(folder, "planted", session, title)
  const at = (name: string) => join(folder, name)
  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await cli(args, env)
    return stdout + stderr
  }
  const calls = session.messages.filter(({ info }) => info.role === "assistant").length
  const inspected: string[] = []
  const step = Math.ceil(calls / inspections)
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
