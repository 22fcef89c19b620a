// Copies that replace the host's parts, and their originals.

import { expect, test } from "bun:test"
import { originalOf, putBack, replacePart } from "../../src/host/v1/copies.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"

const message = (...parts: HostPart[]): HostMessage => ({ info: {}, parts })

test("a copy replaces its part, and the part is not modified", () => {
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

test("a part that is not a copy stays and is its own original", () => {
  const part = { id: "a" }
  const odd = [null, 7, "x", undefined] as never[]
  const messages = [message(part), message(...odd)]
  putBack(messages)
  expect(messages).toEqual([message({ id: "a" }), message(...odd)])
  expect(originalOf(part)).toBe(part)
})

test("nothing is replaced beyond the end or where there is no part", () => {
  const parts = [null] as never[]
  replacePart(parts, 0, { id: "x" })
  replacePart(parts, 3, { id: "x" })
  expect(parts).toEqual([null] as never[])
})

test("an original is not kept alive by a copy that no longer exists", async () => {
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
