// What must hold for a played session, whatever failed in it. Violations are returned as text, so that a child process can
// print them.

import { expect } from "bun:test"
import type { Played } from "./one-session.ts"

/** The plugin's log lines about lost data. */
const SAID = /kept in memory only|wait in memory|lost a write|set aside as|could not be read/

/** The turns ended, folded outputs were recalled, no trouble was logged twice, and the HUD is back. */
export function harmIn(played: Played): string[] {
  const lost = played.processes.flatMap(({ recalled }) => recalled.filter(({ live, original }) => live !== original))
  const repeated = played.processes.flatMap(({ logged }) => repeatedIn(logged))
  return [
    ...played.wrong,
    ...lost.map(({ live }) => `an original did not come back: ${live.slice(0, 200)}`),
    ...repeated.map((line) => `told once more: ${line}`),
    ...(lastWords(played).startsWith("<hud>\n") ? [] : ["the last process has no HUD"]),
  ]
}

/** What the plugin logged about lost data. */
export function saidIn({ processes }: Played): string[] {
  return processes.flatMap(({ logged }) => logged).filter((line) => SAID.test(line))
}

/** What the last process knows without a fault, lacks with it, and no log line accounts for. */
export function lossIn(played: Played, plain: Played): string[] {
  if (saidIn(played).length > 0) return []
  const words = lastWords(played) === lastWords(plain) ? [] : [`the HUD is another: ${lastWords(played)}`]
  return [...words, ...movedIn(played)]
}

/** Expects no violation; returns what was logged about losses. */
export function expectWhole(played: Played, plain: Played): string[] {
  expect(harmIn(played)).toEqual([])
  expect(lossIn(played, plain)).toEqual([])
  return saidIn(played)
}

/** Expects a session with something to lose: folds, recalled originals, and a HUD to the end. */
export function expectRich(plain: Played): void {
  expect(harmIn(plain)).toEqual([])
  for (const { logged, recalled, sent } of plain.processes) {
    expect(logged).toEqual([])
    expect(Math.max(...sent.map(({ folds }) => folds.size))).toBeGreaterThan(0)
    expect(recalled).not.toEqual([])
    for (const { original, live, asked } of recalled) expect([live, asked]).toEqual([original, original])
  }
  expect(lastWords(plain)).toContain("mend the login")
}

/** The last request's HUD, without what depends on when something was folded. */
function lastWords({ processes }: Played): string {
  const hud = processes[2].sent.at(-1)?.hud ?? "no HUD"
  const lines = hud.split("\n").filter((line) => !/^(folded|context|same result) /.test(line))
  return lines.join("\n")
}

/** Folds that the next process sends differently: each loses a cached prefix. */
function movedIn({ processes }: Played): string[] {
  const next = processes.slice(1).map(({ sent }) => sent[0]?.folds)
  return next.flatMap((now, at) => {
    const last = processes[at]?.sent.at(-1)
    const steps = new Map(last?.messages.flatMap(({ info, parts }) => parts.map(({ id }) => [id, info.id ?? ""])))
    const moved = [...(last?.folds ?? [])].filter(
      // an output stands in no line of its own once its whole step is folded
      ([part, text]) => now?.get(part) !== text && !(!now?.has(part) && now?.has(steps.get(part) ?? "")),
    )
    return moved.map(([part]) => `the fold of ${part} moved`)
  })
}

/** Lines that repeat the subject of an earlier line. */
function repeatedIn(logged: readonly string[]): string[] {
  const kinds = logged.map((line) => line.replace(/^hudfold: /, "").replace(/\(.*?\)|: .*$|[\d/].*$/g, ""))
  return logged.filter((_, at) => kinds.indexOf(kinds[at] ?? "") < at)
}
