// How much of a proof runs: all of it under `npm run prove`, a daily share under `npm test`.

const FULL = process.env.HUDFOLD_PROVE === "full"

/** The first size in `npm test`, the second under `npm run prove`. */
export function sized(daily: number, full: number): number {
  return FULL ? full : daily
}

/** The named cases in `npm test`, all of them under `npm run prove`. Throws when a name matches no case. */
export function sample<T extends readonly [string, ...unknown[]]>(all: readonly T[], daily: readonly string[]): T[] {
  const unknown = daily.filter((name) => !all.some(([known]) => known === name))
  if (unknown.length) throw new Error(`no such case: ${unknown.join(", ")}`)
  return all.filter(([name]) => FULL || daily.includes(name))
}
