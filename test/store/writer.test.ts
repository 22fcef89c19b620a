import { expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { createWriter, type Recovery, type WriterOptions } from "../../src/store/writer.ts"
import { rowsOf, type StoreWrite } from "../../src/store/writes.ts"
import { foldOf, until } from "./support.ts"

const carried = (sessionID: string, data = "{}"): StoreWrite => ({
  kind: "carried",
  sessionID,
  carried: { compactionID: "msg_1", data },
  at: 1,
})

/** A disk that fails as instructed and records the batches it was given. */
function diskOf(failures: (Recovery | undefined)[] = [], over: Partial<WriterOptions> = {}) {
  const batches: StoreWrite[][] = []
  const lost: string[] = []
  const patience: number[] = []
  let attempts = 0
  const writer = createWriter({
    write(batch, { patienceMs }) {
      attempts++
      patience.push(patienceMs)
      const failure = failures.shift()
      if (failure) throw new Error(failure)
      batches.push([...batch])
    },
    recover: (error) => (error as Error).message as Recovery,
    onLost: (why) => lost.push(why),
    delayMs: 5,
    ...over,
  })
  return { writer, batches, lost, patience, attempts: () => attempts }
}

test("in a hook a lock is waited for 5 ms at most, in the background 25 ms, and longer only while closing", async () => {
  const { writer, patience } = diskOf(["retry", "retry"], { delayMs: 60_000 })
  writer.addNow(carried("a") as never)
  await writer.flush()
  await writer.close()
  expect(patience).toEqual([5, 25, 200])
})

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

test("only the last of several writes with the same key is written", async () => {
  const { writer, batches } = diskOf()
  for (const data of ["1", "2", "3"]) writer.add(carried("a", data))
  await writer.flush()
  expect(batches).toEqual([[carried("a", "3")]])
})

test("waiting folds of one session are written together, each part as last saved", async () => {
  const folds = (...folds: Fold[]): StoreWrite => ({ kind: "folds", sessionID: "a", rows: rowsOf(folds), at: 1 })
  const { writer, batches } = diskOf()
  const first = folds(foldOf(1), foldOf(2))
  for (const write of [first, folds(foldOf(3)), folds(foldOf(2, { text: "again" }))]) writer.add(write)
  await writer.flush()
  expect(batches).toEqual([[folds(foldOf(1), foldOf(3), foldOf(2, { text: "again" }))]])
  expect(first).toEqual(folds(foldOf(1), foldOf(2)))
})

const foldsWrite = (...folds: Fold[]) =>
  ({ kind: "folds", sessionID: "a", rows: rowsOf(folds), at: 1 }) satisfies StoreWrite

test("an urgent write is written in the caller's tick, after a delete of its session and with its kind, the rest later", async () => {
  const { writer, batches } = diskOf([], { delayMs: 60_000 })
  const deletion: StoreWrite = { kind: "delete", sessionID: "a" }
  for (const write of [deletion, carried("a"), carried("b"), foldsWrite(foldOf(1))]) writer.add(write)
  writer.addNow(foldsWrite(foldOf(2)))
  expect(batches).toEqual([[deletion, foldsWrite(foldOf(1), foldOf(2))]])
  await writer.flush()
  expect(batches.slice(1)).toEqual([[carried("a"), carried("b")]])
})

test("an urgent write that fails is tried once, never throws, and is written soon", async () => {
  const { writer, batches, lost, attempts } = diskOf(["retry"], { delayMs: 60_000 })
  writer.addNow(foldsWrite(foldOf(1)))
  expect([attempts(), batches]).toEqual([1, []])
  await until(() => batches.length === 1)
  expect(batches).toEqual([[foldsWrite(foldOf(1))]])
  await writer.close()
  expect([attempts(), lost]).toEqual([2, []])
})

test("an urgent write costs no waiting write its place unless it has to wait itself", async () => {
  const { writer, batches, lost } = diskOf([undefined, "retry"], { maxWrites: 1, delayMs: 60_000 })
  writer.add(carried("b"))
  writer.addNow(foldsWrite(foldOf(1)))
  expect(lost).toEqual([])
  writer.addNow(foldsWrite(foldOf(2)))
  expect(lost).toEqual(["more than 1 writes are waiting"])
  await writer.flush()
  expect(batches).toEqual([[foldsWrite(foldOf(1))], [foldsWrite(foldOf(2))]])
})

test("after closing nothing is written at once either", async () => {
  const { writer, batches } = diskOf()
  await writer.close()
  writer.addNow(foldsWrite(foldOf(1)))
  expect(batches).toEqual([])
})

test("deleting a session drops its waiting writes", async () => {
  const { writer, batches } = diskOf()
  writer.add(carried("a"))
  writer.add(carried("b"))
  writer.add({ kind: "delete", sessionID: "a" })
  await writer.flush()
  expect(batches).toEqual([[carried("b"), { kind: "delete", sessionID: "a" }]])
})

test("beyond the limit the oldest write is dropped, with the reason", async () => {
  const { writer, batches, lost } = diskOf([], { maxWrites: 2, delayMs: 1000 })
  for (const id of ["a", "b", "c"]) writer.add(carried(id))
  expect(lost).toEqual(["more than 2 writes are waiting"])
  await writer.flush()
  expect(batches).toEqual([[carried("b"), carried("c")]])
})

test("many writes go in several batches", async () => {
  const { writer, batches } = diskOf()
  for (let n = 0; n < 450; n++) writer.add(carried(`${n}`))
  await writer.flush()
  expect(batches.map((batch) => batch.length)).toEqual([200, 200, 50])
})

test("while the file is locked, writes are kept and retried automatically", async () => {
  const { writer, batches, attempts } = diskOf(["retry", "retry", "retry"])
  writer.add(carried("a"))
  await writer.flush()
  expect([batches, attempts()]).toEqual([[], 1])
  await until(() => batches.length === 1)
  expect(attempts()).toBe(4)
  await writer.close()
})

test("a newer value replaces one that waits for the lock", async () => {
  const { writer, batches } = diskOf(["retry"])
  writer.add(carried("a", "old"))
  await writer.flush()
  writer.add(carried("a", "new"))
  await writer.flush()
  expect(batches).toEqual([[carried("a", "new")]])
})

test("a write that fails permanently is dropped without the others", async () => {
  const refused: Recovery = "skip"
  const { writer, batches, lost } = diskOf([refused, undefined, refused])
  for (const id of ["a", "b", "c"]) writer.add(carried(id))
  await writer.flush()
  expect(batches).toEqual([[carried("a")], [carried("c")]])
  expect(lost).toEqual(["skip"])
})

test("after the file was replaced it writes again at once", async () => {
  const { writer, batches } = diskOf(["again"])
  writer.add(carried("a"))
  await writer.flush()
  expect(batches).toEqual([[carried("a")]])
})

test("once stopped it accepts and writes nothing more", async () => {
  const { writer, batches } = diskOf(["stop"])
  writer.add(carried("a"))
  await writer.flush()
  writer.add(carried("b"))
  await writer.flush()
  await writer.close()
  expect(batches).toEqual([])
})

test("closing tries a locked file a bounded number of times and says why writes are lost", async () => {
  const { writer, lost, attempts } = diskOf(
    Array.from({ length: 100 }, (): Recovery => "retry"),
    { delayMs: 1000 },
  )
  writer.add(carried("a"))
  writer.add(carried("b"))
  await writer.close()
  expect(attempts()).toBe(6)
  expect(lost).toEqual(["retry"])
})
