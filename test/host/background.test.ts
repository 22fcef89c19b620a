// Work between requests: all of it is done, newer work of a session replaces older, and a failure ends only itself.

import { expect, test } from "bun:test"
import { createBackground } from "../../src/host/background.ts"
import { until } from "../store/support.ts"

function* counting(done: string[], name: string, steps: number): Generator<void> {
  for (let step = 1; step <= steps; step++) {
    done.push(`${name}${step}`)
    yield
  }
}

test("work is not begun at once, and all of it is done", async () => {
  const done: string[] = []
  const background = createBackground(() => {})
  background.start("one", counting(done, "a", 3))
  background.start("two", counting(done, "b", 2))
  expect(done).toEqual([])
  await until(() => done.length === 5)
  expect(done.toSorted()).toEqual(["a1", "a2", "a3", "b1", "b2"])
})

test("newer work of a session takes the place of what is left", async () => {
  const done: string[] = []
  const background = createBackground(() => {})
  background.start("one", counting(done, "old", Number.POSITIVE_INFINITY))
  await until(() => done.length > 0)
  background.start("one", counting(done, "new", 1))
  const before = done.length
  await until(() => done.includes("new1"))
  expect(done.length).toBe(before + 1)
})

test("work that throws is reported and given up; other work goes on", async () => {
  const done: string[] = []
  const reported: unknown[] = []
  const background = createBackground((cause) => reported.push(cause))
  const failing: Iterator<void> = {
    next: () => {
      throw new Error("no")
    },
  }
  background.start("one", failing)
  background.start("two", counting(done, "b", 2))
  await until(() => done.length === 2)
  expect(reported).toEqual([new Error("no")])
})

test("nothing is done after it was closed", async () => {
  const done: string[] = []
  const background = createBackground(() => {})
  background.start("one", counting(done, "a", 3))
  background.close()
  createBackground(() => {}).start("two", counting(done, "b", 3))
  await until(() => done.length === 3)
  expect(done).toEqual(["b1", "b2", "b3"])
})
