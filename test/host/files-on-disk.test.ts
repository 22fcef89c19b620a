// The files of a session as they are found on disk, however they were changed there.

import { expect, test } from "bun:test"
import { execFileSync } from "node:child_process"
import { rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createEnv } from "../../src/digest/digests.ts"
import { createSessions } from "../../src/host/sessions.ts"
import { checkFiles } from "../../src/host/v1/event.ts"
import { stateOf } from "../../src/session/facts.ts"
import { temporaryFolder } from "../store/support.ts"
import { take } from "../support/conversation.ts"
import { ROOT, read, SessionBuilder } from "../support/session.ts"

/** A session that has read `a.ts`, with that file in a folder. `write` gives it content some seconds after the last use. */
function openFile() {
  const folder = temporaryFolder()
  const place = join(folder.path, "a.ts")
  const env = createEnv(ROOT)
  const session = createSessions(env).get("ses_test")
  const part = read("a.ts")
  part.state = { ...part.state, time: { end: Date.now() - 3_600_000 } }
  take(session.ledger, new SessionBuilder().user("look").assistant([part]).fresh())
  const file = session.ledger.facts.files.get("a.ts")!
  let writtenMs = file.usedMs - 60_000
  const write = (content: string) => {
    writeFileSync(place, content)
    utimesSync(place, new Date(writtenMs), new Date(writtenMs))
    writtenMs += 70_000
  }
  const versions = () => session.signals.versions.get("a.ts") ?? []
  /** What is said of the file once it has been looked at. */
  const look = async (count: number) => {
    await checkFiles({ directory: folder.path, env }, session)
    expect(versions()).toHaveLength(count)
    return stateOf(file, session.signals)
  }
  return { place, write, look, versions, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

test("a file that is written with the same content, or comes back, is not changed", async () => {
  using file = openFile()
  file.write("one")
  expect(await file.look(1)).toBe("read")
  file.write("one")
  expect(await file.look(2)).toBe("read")
  file.write("two")
  expect(await file.look(3)).toBe("changed on disk since read")
  file.write("one")
  expect(await file.look(4)).toBe("read")
})

test("a file that was changed an hour from now, as by another machine's clock, is not told as changed", async () => {
  using file = openFile()
  file.write("one")
  await file.look(1)
  const ahead = new Date(Date.now() + 3_600_000)
  utimesSync(file.place, ahead, ahead)
  expect(await file.look(0)).toBe("read")
})

test("a file that is gone is deleted, until it is there again", async () => {
  using file = openFile()
  file.write("one")
  await file.look(1)
  rmSync(file.place)
  expect(await file.look(2)).toBe("deleted")
  // looked at again, it is gone as before
  expect(await file.look(2)).toBe("deleted")
  file.write("one")
  expect(await file.look(3)).toBe("read")
})

test("of a file that was never seen nothing is said, and no pipe or large file is read", async () => {
  using file = openFile()
  expect(await file.look(0)).toBe("read")
  execFileSync("mkfifo", [file.place])
  expect(await file.look(1)).toBe("changed on disk since read")
  rmSync(file.place)
  file.write("x".repeat(300_000))
  await file.look(2)
  file.write("x".repeat(300_000))
  expect(await file.look(3)).toBe("changed on disk since read")
  expect(file.versions().every(({ hash }) => /^\d+(?:\.\d+)?$/.test(hash))).toBe(true)
})
