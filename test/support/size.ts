// How much of a proof runs: all of it under `npm run prove`, a daily share under `npm test`, and where that is little, more in
// the large run.

import { LARGE } from "./large.ts"

const FULL = process.env.HUDFOLD_PROVE === "full"

/** The first size in `npm test`, the second under `npm run prove`, the third in the large run: the first unless given. */
export function sized(daily: number, full: number, large = daily): number {
  if (FULL) return full
  return LARGE ? large : daily
}

/** The named cases in `npm test`, all of them under `npm run prove`. Throws when a name matches no case. */
export function sample<T extends readonly [string, ...unknown[]]>(all: readonly T[], daily: readonly string[]): T[] {
  const unknown = daily.filter((name) => !all.some(([known]) => known === name))
  if (unknown.length) throw new Error(`no such case: ${unknown.join(", ")}`)
  return all.filter(([name]) => FULL || daily.includes(name))
}
