import { expect, test } from "bun:test"
import { createShared } from "../../src/system/shared.ts"

type User = { name: string }

/** A resource whose stop takes until the test calls `stopNow`. */
function counted() {
  const events: string[] = []
  let stopNow = () => {}
  const shared = createShared<number, User>((value) => {
    events.push(`stop ${value}`)
    return new Promise((resolve) => {
      stopNow = resolve
    })
  })
  let started = 0
  let seen: ReadonlySet<User> = new Set()
  const acquire = (key: string, name = "one") =>
    shared.acquire(key, { name }, (users, stopped) => {
      seen = users
      events.push(`start ${++started}${stopped ? " after another" : ""}`)
      return started
    })
  return { events, acquire, names: () => [...seen].map(({ name }) => name), stopNow: () => stopNow() }
}

test("the first user of a key starts the resource, the last one to release it stops it, once", async () => {
  const { events, acquire, stopNow } = counted()
  const [first, second, other] = [acquire("a"), acquire("a"), acquire("b")]
  expect([first.value, second.value, other.value]).toEqual([1, 1, 2])
  await first.release()
  await first.release()
  expect(events).toEqual(["start 1", "start 2"])
  const released = second.release()
  await second.release()
  expect(events).toEqual(["start 1", "start 2", "stop 1"])
  stopNow()
  await released
})

test("a successor is told of the resource that still stops", async () => {
  const { events, acquire, stopNow } = counted()
  const released = acquire("a").release()
  const next = acquire("a")
  expect(events).toEqual(["start 1", "stop 1", "start 2 after another"])
  stopNow()
  await released
  const ended = next.release()
  stopNow()
  await ended
  acquire("a")
  expect(events.at(-1)).toBe("start 3")
})

test("the resource sees who uses it", async () => {
  const { acquire, names, stopNow } = counted()
  const [first, second] = [acquire("a", "first"), acquire("a", "second")]
  expect(names()).toEqual(["first", "second"])
  await first.release()
  expect(names()).toEqual(["second"])
  const ended = second.release()
  stopNow()
  await ended
})
