import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { MissCount } from "../../src/fold/misses.ts"
import type { Shows } from "../../src/output/shows.ts"
import { openAt, temporaryFolder } from "./support.ts"

const counted = (shows: Shows, recalls: number, folded: number): Map<Shows, MissCount> =>
  new Map([[shows, { shows, recalls, folded }]])

test("counts of a model are added up, over saves, processes and a locked file's wait", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  {
    await using first = await openAt(path)
    first.store.saveMisses("p/m", counted("file", 0, 30))
    first.store.saveMisses("p/m", counted("file", 1, 0))
    first.store.saveMisses("p/m", counted("run", 0, 5))
    first.store.saveMisses("p/other", counted("run", 2, 7))
    first.store.saveMisses("p/m", new Map())
    expect(first.store.pending).toBe(3)
    expect(first.store.loadMisses("p/m")).toEqual(new Map([...counted("file", 1, 30), ...counted("run", 0, 5)]))
    // another process on the same file
    await using second = await openAt(path)
    second.store.saveMisses("p/m", counted("file", 1, 10))
    await second.store.flush()
  }
  await using third = await openAt(path)
  expect(third.store.loadMisses("p/m")).toEqual(new Map([...counted("file", 2, 40), ...counted("run", 0, 5)]))
  expect(third.store.loadMisses("p/other")).toEqual(counted("run", 2, 7))
  expect(third.store.loadMisses("p/unknown")).toEqual(new Map())
})

test("counts are halved in the file beyond 2,000 folds, and those of a model not used for long are pruned", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  {
    await using first = await openAt(path)
    first.store.saveMisses("p/m", counted("file", 30, 1900))
    first.store.saveMisses("p/old", counted("file", 1, 1))
    await first.store.flush()
    first.store.saveMisses("p/m", counted("file", 10, 200))
  }
  const db = new Database(path)
  db.run("UPDATE miss SET used_at = used_at - ? WHERE model = 'p/old'", [91 * 24 * 60 * 60 * 1000])
  db.run("INSERT INTO miss VALUES ('p/m', 'a kind of old', 1, 1, ?), ('p/m', 'run', -1, 1, ?)", [
    Date.now(),
    Date.now(),
  ])
  db.close()
  await using second = await openAt(path)
  expect(second.store.loadMisses("p/m")).toEqual(counted("file", 20, 1050))
  await second.store.flush()
  await using third = await openAt(path)
  expect(third.store.loadMisses("p/old")).toEqual(new Map())
})

test("without a file counts are kept in memory", async () => {
  await using opened = await openAt("/dev/null/hud.db")
  opened.store.saveMisses("p/m", counted("file", 1, 3))
  opened.store.saveMisses("p/m", counted("file", 1, 3))
  expect(opened.store.loadMisses("p/m")).toEqual(counted("file", 2, 6))
})
