// The real OpenCode, whose store or own database fails during a turn: the stored session and the exit are the same as without
// the plugin.

import { Database } from "bun:sqlite"
import { beforeAll, describe, expect, test } from "bun:test"
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { schemaVersion } from "../../src/store/migrations.ts"
import { hudsOf } from "../opencode/request.ts"
import { differences, outlineIn } from "../opencode/stored.ts"
import type { Reply } from "../opencode/wire.ts"
import { FILES, look } from "../support/folds.ts"
import { sized } from "../support/size.ts"
import { canMount, mountSmall } from "../support/small-disk.ts"
import { openWorld, PATIENCE_MS, PLUGIN, say, use } from "../support/world.ts"

/** With no cache to lose, an output is folded as soon as possible. The deadline allows for a busy machine. */
const EAGER = [PLUGIN, { fold: { price: { read: 1, write: 1 } }, deadlineMs: 5_000 }] as const
const LOCKED_MS = 1_500

type Fault = {
  name: string
  /** replaces the data folder before OpenCode starts; returns how to undo that */
  before?(data: string): () => void
  /** when the model is asked for the nth time */
  during(place: { data: string; database: string }): undefined | (() => void)
  /** what the log must say */
  says?: RegExp
}

const overwrite = (path: string, bytes: Buffer, at: number) => {
  const file = openSync(path, "r+")
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

const locked = (path: string) => {
  const db = new Database(path)
  db.exec("PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE")
  return () => db.close()
}

const isSmall = canMount()

const FAULTS: readonly Fault[] = [
  {
    name: "OpenCode's own database is locked by another process for a while",
    during: ({ database }) => {
      const release = locked(database)
      const timer = setTimeout(release, LOCKED_MS)
      return () => {
        clearTimeout(timer)
        release()
      }
    },
  },
  {
    name: "the store's pages are overwritten",
    during: ({ data }) => {
      for (const name of ["hud.db", "hud.db-wal"].filter((one) => existsSync(join(data, one)))) {
        const { size } = statSync(join(data, name))
        if (size > 100) overwrite(join(data, name), Buffer.alloc(size - 100, 0xa5), 100)
      }
      return undefined
    },
  },
  { name: "the store is locked by another process to the end", during: ({ data }) => locked(join(data, "hud.db")) },
  {
    name: "the store's folder is removed",
    during: ({ data }) => {
      rmSync(data, { recursive: true, force: true })
      return undefined
    },
  },
  {
    name: "the store is migrated by a newer version",
    during: ({ data }) => {
      const db = new Database(join(data, "hud.db"))
      db.exec(`PRAGMA busy_timeout = 5000; PRAGMA user_version = ${schemaVersion + 1}`)
      db.close()
      return undefined
    },
    says: /newer opencode-hudfold/,
  },
]

/** Mounts a separate disk as the data folder; returns how to undo that. */
function ownDisk(data: string, megabytes: number) {
  mkdirSync(data, { recursive: true })
  return mountSmall(data, megabytes)
}

/** What takes a disk of its own. */
const DISK_FAULTS: readonly Fault[] = [
  {
    name: "the disk of the store fills up",
    before(data) {
      const disk = ownDisk(data, 1)
      return () => disk[Symbol.dispose]()
    },
    during({ data }) {
      try {
        writeFileSync(join(data, "ballast"), Buffer.alloc(2_000_000))
      } catch {
        // as much as there was room for is written
      }
      return () => rmSync(join(data, "ballast"), { force: true })
    },
    says: /wait in memory until there is room|nothing to show in the panel/,
  },
  {
    name: "another file system, which is read-only, comes to lie over the store's folder",
    during({ data }) {
      const disk = ownDisk(data, 1)
      disk.readOnly()
      return () => disk[Symbol.dispose]()
    },
    // the line that the panel has nothing to show may come too late for the log
  },
  {
    name: "the disk of the store has been read-only from the start",
    before(data) {
      const disk = ownDisk(data, 1)
      disk.readOnly()
      return () => disk[Symbol.dispose]()
    },
    during: () => undefined,
    says: /memory only/,
  },
]

const MOST_LOOKS = 6
/** OpenCode writes its log about once a second, and what is not written when it exits is lost. */
const LOGGED_MS = 1_500
const replies = (at: number, delayMs: number): Reply =>
  at < MOST_LOOKS ? use(look(at + 1)) : { ...say("Done."), delayMs }

let plain: Worked
beforeAll(async () => {
  plain = await work(undefined, null)
}, 2 * PATIENCE_MS)

type Worked = { outlines: string[][]; ends: object[]; log: string; huds: number; left: string[] }

/** A turn with the fault in it, and another of the same session in a new process, when it is over. */
async function work(fault: Fault | undefined, plugin: typeof EAGER | null): Promise<Worked> {
  const world = await openWorld({ plugin, files: FILES })
  const data = join(world.host.root, "data", "opencode-hudfold")
  const database = join(world.host.root, "data", "opencode", "opencode.db")
  const takeBack = fault?.before?.(data)
  let end: (() => void) | undefined
  try {
    let asked = 0
    world.provider.play((request) => {
      if (request.caller !== "main") return undefined
      if (asked === 3) end = fault?.during({ data, database })
      return replies(asked++, fault?.says ? LOGGED_MS : 0)
    })
    const first = await world.host.run("Look at the logs")
    end?.()
    end = undefined
    const outline = await outlineIn(world.host, first.session)
    world.provider.play([use(look(7)), say("Done.")])
    const second = await world.host.run("And one more", { session: first.session })
    const requests = world.provider.from("main", first.session)
    return {
      outlines: [outline, await outlineIn(world.host, first.session)],
      ends: [first, second].map(({ exitCode, stderr }) => ({ exitCode, stderr })),
      log: world.host.log(),
      huds: requests.slice(-2).flatMap(hudsOf).length,
      left: existsSync(data) ? readdirSync(data) : [],
    }
  } finally {
    end?.()
    takeBack?.()
    await world.close()
  }
}

describe("the session is the same as without the plugin, and the next process has its HUD, when during a turn", () => {
  const all = [...FAULTS, ...DISK_FAULTS]
  for (const fault of all.slice(0, sized(1, all.length))) {
    const skipped = DISK_FAULTS.includes(fault) && !isSmall
    test.skipIf(skipped)(
      skipped ? `${fault.name} (skipped: only root may mount a disk)` : fault.name,
      async () => {
        const faulty = await work(fault, EAGER)
        expect(faulty.ends).toEqual(plain.ends)
        for (const [at, outline] of faulty.outlines.entries())
          expect(differences(plain.outlines[at] ?? [], outline)).toEqual([])
        expect(faulty.huds).toBe(2)
        const said = faulty.log.split("\n").filter((line) => line.includes("hudfold: "))
        expect(said.filter((line) => /was not done|took longer|failed; OpenCode/.test(line))).toEqual([])
        if (fault.says) expect(said.join("\n")).toMatch(fault.says)
      },
      3 * PATIENCE_MS,
    )
  }
})
