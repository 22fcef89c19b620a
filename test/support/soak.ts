// Long use of the plugin: sessions that start, grow, are undone, compacted, deleted or abandoned, several at once and all alike,
// so that early and late measurements can be compared.

import { heapStats } from "bun:jsc"
import { median } from "../../bench/sessions.ts"
import { completion, modelList, serve } from "../digest/servers.ts"
import { DrivenSession, openDirectory, type Watcher } from "./driver.ts"

/** `heap` in bytes, all that JavaScript holds; `counts` of living objects by type. */
export type Memory = { heap: number; rss: number; counts: Readonly<Record<string, number>> }

export type Soaked = {
  calls: number
  sessions: number
  /** at the first `early` calls, and at the end */
  before: Memory
  after: Memory
  /** the hook's time in the last fifth of the calls, as a multiple of the first; medians at equal places of a session */
  slower: number
  /** of all calls, in ms */
  medianMs: number
  /** digests asked of the model */
  asked: number
  logged: readonly string[]
}

/** Sessions at work at once. */
const WIDTH = 6

/** Runs until that many calls were made, a little more. The store is on disk, a model writes digests. */
export async function soak(calls: number, early: number): Promise<Soaked> {
  let asked = 0
  await using served = await serve(({ path, body }) => {
    served.seen.length = 0
    if (path.endsWith("/models")) return modelList("scripted")
    asked++
    const [place = ""] = /src\/\S+/.exec(body.messages?.at(-1)?.content ?? "") ?? []
    return completion(JSON.stringify({ summary: "const values that compute gives", facts: [place] }))
  })
  const directory = await openDirectory({
    digest: { backend: "openai", openai: { url: served.url, model: "scripted" } },
  })
  const times: { ms: number; place: number }[] = []
  let sessions = 0
  let before: Memory | undefined
  try {
    const watch: Watcher = (_, __, ms, place) => void times.push({ ms, place })
    for (let round = 0; times.length < calls; round++) {
      const lanes = Array.from({ length: WIDTH }, (_, lane) => {
        const session = new DrivenSession(directory, `ses_${round}_${lane}`, `w${round}x${lane}y`, watch)
        return live(session, lane % 3 === 0)
      })
      await Promise.all(lanes)
      sessions += 2 * WIDTH
      if (!before && times.length >= early) before = await remember()
    }
    const after = await remember()
    return {
      calls: times.length,
      sessions,
      before: before ?? after,
      after,
      slower: slowerOf(times),
      medianMs: median(times.map(({ ms }) => ms)),
      asked,
      logged: directory.logged,
    }
  } finally {
    await directory.dispose()
  }
}

/** From its first message to its end. */
async function live(session: DrivenSession, isDeleted: boolean): Promise<void> {
  await session.create()
  await session.turn(12)
  session.undo(4)
  await session.turn(12)
  await session.compact()
  await session.turn(12, () => help(session))
  await session.turn(6)
  session.directory.stored.delete(session.id)
  if (isDeleted) await session.remove()
}

async function help(parent: DrivenSession): Promise<void> {
  const helper = new DrivenSession(parent.directory, `${parent.id}_child${parent.calls}`, `${parent.word}c`)
  await helper.create(parent.id)
  await helper.turn(3)
  await helper.remove()
}

/** What is live once nothing is pending: on a busy machine, that takes several looks. */
async function remember(): Promise<Memory> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    // a status is written 150 ms after the last change, the store a second after
    await new Promise((resolve) => setTimeout(resolve, 1500))
    Bun.gc(true)
    Bun.gc(true)
    const { heapSize, objectTypeCounts } = heapStats()
    const { Promise: pending = 0 } = objectTypeCounts
    if (pending > before - 50) return { heap: heapSize, rss: process.memoryUsage().rss, counts: objectTypeCounts }
    before = pending
  }
}

function slowerOf(times: readonly { ms: number; place: number }[]): number {
  const fifth = Math.floor(times.length / 5)
  const first = byPlace(times.slice(0, fifth))
  const last = byPlace(times.slice(-fifth))
  const ratios = [...first].flatMap(([place, ms]) => {
    const late = last.get(place)
    return late === undefined ? [] : [median(late) / median(ms)]
  })
  return median(ratios)
}

function byPlace(times: readonly { ms: number; place: number }[]): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const { ms, place } of times) found.set(place, [...(found.get(place) ?? []), ms])
  return found
}
