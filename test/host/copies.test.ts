// Copies in the place of the host's parts, and the way back.

import { expect, test } from "bun:test"
import { originalOf, putBack, replacePart } from "../../src/host/copies.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"

const message = (...parts: HostPart[]): HostMessage => ({ info: {}, parts })

test("a copy takes its part's place, and the part is not written to", () => {
  const part = Object.freeze({ id: "a" })
  const { parts } = message({ id: "0" }, part)
  replacePart(parts, 1, { ...part, text: "x" })
  expect(parts).toEqual([{ id: "0" }, { id: "a", text: "x" }])
  expect(originalOf(parts[1] as HostPart)).toBe(part)
  expect(part).toEqual({ id: "a" })
})

test("a copy of a copy leads back to the host's part", () => {
  const part = { id: "a" }
  const messages = [message(part)]
  const parts = messages[0]?.parts as HostPart[]
  for (const text of ["x", "y", "z"]) replacePart(parts, 0, { ...parts[0], text })
  expect(originalOf(parts[0] as HostPart)).toBe(part)
  putBack(messages)
  expect(parts[0]).toBe(part)
})

test("what is no copy stays where it is, and is its own original", () => {
  const part = { id: "a" }
  const odd = [null, 7, "x", undefined] as never[]
  const messages = [message(part), message(...odd)]
  putBack(messages)
  expect(messages).toEqual([message({ id: "a" }), message(...odd)])
  expect(originalOf(part)).toBe(part)
})

test("there is nothing to replace beyond the end or where no part is", () => {
  const parts = [null] as never[]
  replacePart(parts, 0, { id: "x" })
  replacePart(parts, 3, { id: "x" })
  expect(parts).toEqual([null] as never[])
})

test("an original is not kept alive by what was put in its place and is gone", async () => {
  const seen: WeakRef<HostPart>[] = []
  for (let i = 0; i < 50; i++) {
    const part: HostPart = { id: `${i}`, text: "x".repeat(1000) }
    const { parts } = message(part)
    replacePart(parts, 0, { ...part })
    seen.push(new WeakRef(part))
  }
  // a weak reference holds until the turn of the event loop ends; the collector may miss a few on the stack
  await new Promise((resolve) => setTimeout(resolve, 0))
  Bun.gc(true)
  expect(seen.filter((one) => one.deref() !== undefined).length).toBeLessThan(10)
})
