import { expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { rowsOf } from "../../src/store/fold.ts"
import type { Write } from "../../src/store/record.ts"
import { createWriter, type Recovery, type WriterOptions } from "../../src/store/writer.ts"
import { foldOf, until } from "./support.ts"

const carried = (sessionID: string, data = "{}"): Write => ({
  kind: "carried",
  sessionID,
  carried: { compactionID: "msg_1", data },
  at: 1,
})

/** A disk that fails as told, and remembers what it was given in which batches. */
function diskOf(failures: (Recovery | undefined)[] = [], over: Partial<WriterOptions> = {}) {
  const batches: Write[][] = []
  const lost: string[] = []
  let attempts = 0
  const writer = createWriter({
    write(batch) {
      attempts++
      const failure = failures.shift()
      if (failure) throw new Error(failure)
      batches.push([...batch])
    },
    recover: (error) => (error as Error).message as Recovery,
    onLost: (_, why) => lost.push(why),
    delayMs: 5,
    ...over,
  })
  return { writer, batches, lost, attempts: () => attempts }
}

test("writes nothing in the caller's tick, then all in one batch", async () => {
  const { writer, batches } = diskOf()
  writer.add(carried("a"))
  writer.add(carried("b"))
  const flushed = writer.flush()
  expect(batches).toEqual([])
  await flushed
  expect(batches).toEqual([[carried("a"), carried("b")]])
})

test("writes by itself after a while", async () => {
  const { writer, batches } = diskOf()
  writer.add(carried("a"))
  await until(() => batches.length === 1)
  await writer.close()
})

test("of writes with one key only the last is written", async () => {
  const { writer, batches } = diskOf()
  for (const data of ["1", "2", "3"]) writer.add(carried("a", data))
  await writer.flush()
  expect(batches).toEqual([[carried("a", "3")]])
})

test("folds of one session that wait are written as one, each part as it was saved last", async () => {
  const folds = (...folds: Fold[]): Write => ({ kind: "folds", sessionID: "a", rows: rowsOf(folds), at: 1 })
  const { writer, batches } = diskOf()
  const first = folds(foldOf(1), foldOf(2))
  for (const write of [first, folds(foldOf(3)), folds(foldOf(2, { text: "anew" }))]) writer.add(write)
  await writer.flush()
  expect(batches).toEqual([[folds(foldOf(1), foldOf(3), foldOf(2, { text: "anew" }))]])
  expect(first).toEqual(folds(foldOf(1), foldOf(2)))
})

test("deleting a session drops its waiting writes", async () => {
  const { writer, batches } = diskOf()
  writer.add(carried("a"))
  writer.add(carried("b"))
  writer.add({ kind: "delete", sessionID: "a" })
  await writer.flush()
  expect(batches).toEqual([[carried("b"), { kind: "delete", sessionID: "a" }]])
})

test("past its bound the oldest write goes and is counted", async () => {
  const { writer, batches, lost } = diskOf([], { maxWrites: 2, delayMs: 1000 })
  for (const id of ["a", "b", "c"]) writer.add(carried(id))
  expect([writer.pending, writer.lost, lost]).toEqual([2, 1, ["more than 2 writes wait"]])
  await writer.flush()
  expect(batches).toEqual([[carried("b"), carried("c")]])
})

test("many writes go in several batches", async () => {
  const { writer, batches } = diskOf()
  for (let n = 0; n < 450; n++) writer.add(carried(`${n}`))
  await writer.flush()
  expect(batches.map((batch) => batch.length)).toEqual([200, 200, 50])
})

test("while locked the writes are kept and tried again by themselves", async () => {
  const { writer, batches, attempts } = diskOf(["retry", "retry", "retry"])
  writer.add(carried("a"))
  await writer.flush()
  expect([writer.pending, attempts()]).toEqual([1, 1])
  await until(() => batches.length === 1)
  expect(attempts()).toBe(4)
  await writer.close()
})

test("a value saved while its older one is locked out replaces it", async () => {
  const { writer, batches } = diskOf(["retry"])
  writer.add(carried("a", "old"))
  await writer.flush()
  writer.add(carried("a", "new"))
  await writer.flush()
  expect(batches).toEqual([[carried("a", "new")]])
})

test("a write that cannot be written is given up without the others", async () => {
  const refused: Recovery = "skip"
  const { writer, batches, lost } = diskOf([refused, undefined, refused])
  for (const id of ["a", "b", "c"]) writer.add(carried(id))
  await writer.flush()
  expect(batches).toEqual([[carried("a")], [carried("c")]])
  expect([writer.pending, writer.lost, lost]).toEqual([0, 1, ["skip"]])
})

test("with a fresh file in place it writes again at once", async () => {
  const { writer, batches } = diskOf(["again"])
  writer.add(carried("a"))
  await writer.flush()
  expect(batches).toEqual([[carried("a")]])
})

test("once stopped it takes and writes nothing more", async () => {
  const { writer, batches } = diskOf(["stop"])
  writer.add(carried("a"))
  await writer.flush()
  writer.add(carried("b"))
  await writer.flush()
  await writer.close()
  expect([writer.pending, batches.length]).toEqual([0, 0])
})

test("closing tries a locked file a bounded number of times and counts what is lost", async () => {
  const { writer, lost, attempts } = diskOf(
    Array.from({ length: 100 }, (): Recovery => "retry"),
    { delayMs: 1000 },
  )
  writer.add(carried("a"))
  writer.add(carried("b"))
  await writer.close()
  expect([attempts(), writer.lost, writer.pending]).toEqual([6, 2, 0])
  expect(lost).toEqual(["retry"])
})
