// Copies that replace the host's messages, and their originals.

import { expect, test } from "bun:test"
import { standIn, unfolded } from "../../src/host/v1/copies.ts"
import { type HostMessage, type HostPart, OWN_MARK, OWN_PART } from "../../src/host/v1/message.ts"

const message = (...parts: HostPart[]): HostMessage => ({ info: {}, parts })
const ours: HostPart = { id: OWN_PART, type: "text", synthetic: true, text: "x" }

test("a copy leads back to the messages it stands for, in their places", () => {
  const [a, b, c] = [message({ id: "a" }), message({ id: "b" }), message({ id: "c" })]
  const copy = standIn(message({ id: "ab" }), [a, b])
  expect(unfolded([copy, c])).toEqual([a, b, c])
  expect(unfolded([copy, c])[0]).toBe(a)
})

test("a copy of a copy leads back to the host's message", () => {
  const a = message({ id: "a" })
  let copy = a
  for (const text of ["x", "y", "z"]) copy = standIn(message({ id: "a", text }), [copy])
  expect(unfolded([copy])).toEqual([a])
  expect(unfolded([copy])[0]).toBe(a)
})

test("a copy made by another copy of this plugin leads back too", async () => {
  const other = (await import(`${"../../src/host/v1/copies.ts"}?another`)) as { unfolded: typeof unfolded }
  const [a, b] = [message({ id: "a" }), message({ id: "b" })]
  const record = standIn({ info: { ...OWN_MARK }, parts: [ours] }, [a, b])
  expect(other.unfolded).not.toBe(unfolded)
  expect(other.unfolded([record])).toEqual([a, b])
})

test("a message that is not a copy stays, whatever its parts are", () => {
  const odd = message(...([null, 7, "x", undefined] as never[]))
  expect(unfolded([odd])[0]).toBe(odd)
})

test("without their originals, as in a clone, our messages and our parts are left out", () => {
  const own = { info: { ...OWN_MARK }, parts: [ours] }
  const user = (...parts: HostPart[]): HostMessage => ({ info: { role: "user" }, parts })
  expect(unfolded([own, user({ id: "a" }, ours)])).toEqual([user({ id: "a" })])
})

test("an original is not kept alive by a copy that no longer exists", async () => {
  const seen: WeakRef<HostMessage>[] = []
  for (let i = 0; i < 50; i++) {
    const one = message({ id: `${i}`, text: "x".repeat(1000) })
    standIn(message(), [one])
    seen.push(new WeakRef(one))
  }
  // a weak reference holds until the turn of the event loop ends; the collector may miss a few on the stack
  await new Promise((resolve) => setTimeout(resolve, 0))
  Bun.gc(true)
  expect(seen.filter((one) => one.deref() !== undefined).length).toBeLessThan(10)
})
