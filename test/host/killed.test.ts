// A process that is killed right after a request's commit: what the request sent folded is in the store for the next process.

import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { openStore } from "../../src/store/open.ts"
import { spawnChild, temporaryFolder } from "../store/support.ts"

const fixture = join(import.meta.dir, "fixtures/killed-session.ts")

test("every fold of a request is in the store when the process is killed right after its commit", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  // a request waits a second for the store, which a busy machine may need to create it
  await (await openStore({ path, onWarning() {} })).close()
  let before = 0
  for (let steps = 14; steps < 30; steps += 4) {
    using child = spawnChild([process.execPath, fixture, path, String(steps)], { HUDFOLD_DATA: folder.path })
    const { code, stdout, stderr } = await child.finish()
    expect({ code, stderr }).toEqual({ code: 137, stderr: "" })
    const { logged, folded } = JSON.parse(stdout) as { logged: string[]; folded: string[] }
    expect(logged).toEqual([])
    expect(folded.length).toBeGreaterThan(before)
    before = folded.length
    const stored = partsIn(path)
    expect(folded.filter((part) => !stored.has(part))).toEqual([])
  }
}, 120_000)

function partsIn(path: string): Set<string> {
  const db = new Database(path, { readonly: true })
  try {
    return new Set(
      db
        .query<{ part_id: string }, []>("SELECT part_id FROM fold")
        .all()
        .map((row) => row.part_id),
    )
  } finally {
    db.close()
  }
}
