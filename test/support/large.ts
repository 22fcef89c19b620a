// What is merely large: rare combinations, and further rounds of what a smaller test proves. `.ci/run` and `npm run prove` run
// it. `npm test` skips it, and the names of the skipped tests say so.

import { test } from "bun:test"

export const LARGE = process.env.HUDFOLD_LARGE === "1"

/** The name of a large test or group; it says so where it is skipped. */
export function largeName(name: string): string {
  return LARGE ? name : `${name} (skipped: large, runs with HUDFOLD_LARGE=1)`
}

/** A large test. */
export function testLarge(name: string, body: () => Promise<unknown>, timeoutMs?: number): void {
  test.skipIf(!LARGE)(largeName(name), body, timeoutMs)
}

/** The cases that run: where the run is not large, the rare ones are skipped. Throws when a name matches no case. */
export function withoutRare<T extends readonly [string, ...unknown[]]>(
  all: readonly T[],
  rare: readonly string[],
): readonly T[] {
  const unknown = rare.filter((name) => !all.some(([known]) => known === name))
  if (unknown.length) throw new Error(`no such case: ${unknown.join(", ")}`)
  if (LARGE) return all
  for (const name of rare) test.skip(largeName(name), () => {})
  return all.filter(([name]) => !rare.includes(name))
}
