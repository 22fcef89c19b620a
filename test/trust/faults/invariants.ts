// What a played session is held against, whatever failed in it and wherever. Says what is wrong in words, so that a child
// process can say it too.

import { expect } from "bun:test"
import type { Played } from "../../support/one-session.ts"

/** The plugin's own words about what it could not keep. */
const SAID = /kept in memory only|waits in memory|gave up a write|set aside as|could not be read/

/** The turns ended as they should, what was folded came back, no trouble was told twice, and the HUD is there again. */
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

/** What the plugin said of what it could not keep. */
export function saidIn({ processes }: Played): string[] {
  return processes.flatMap(({ logged }) => logged).filter((line) => SAID.test(line))
}

/** What the last process does not know, and does without a fault, although nothing was said of a loss. */
export function lossIn(played: Played, plain: Played): string[] {
  if (saidIn(played).length > 0) return []
  const words = lastWords(played) === lastWords(plain) ? [] : [`the HUD is another: ${lastWords(played)}`]
  return [...words, ...movedIn(played)]
}

/** None of the above; answers what was said of losses. */
export function expectWhole(played: Played, plain: Played): string[] {
  expect(harmIn(played)).toEqual([])
  expect(lossIn(played, plain)).toEqual([])
  return saidIn(played)
}

/** Without a fault there is something to lose: folds, originals asked back, and a HUD to the end. */
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

/** Folds that one process sent last and the next one sends otherwise: each is a cached prefix lost. */
function movedIn({ processes }: Played): string[] {
  const next = processes.slice(1).map(({ sent }) => sent[0]?.folds)
  return next.flatMap((now, at) => {
    const before = [...(processes[at]?.sent.at(-1)?.folds ?? [])]
    return before.filter(([part, text]) => now?.get(part) !== text).map(([part]) => `the fold of ${part} moved`)
  })
}

/** Lines about what an earlier line was about, in other words. */
function repeatedIn(logged: readonly string[]): string[] {
  const kinds = logged.map((line) => line.replace(/^hudfold: /, "").replace(/\(.*?\)|: .*$|[\d/].*$/g, ""))
  return logged.filter((_, at) => kinds.indexOf(kinds[at] ?? "") < at)
}
