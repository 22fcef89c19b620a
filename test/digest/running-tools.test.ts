import { expect, test } from "bun:test"
import { createRunningTools } from "../../src/digest/running-tools.ts"

test("says when the first tool starts and when the last one ends", () => {
  const said: boolean[] = []
  const tools = createRunningTools((any) => said.push(any))
  tools.started("a")
  tools.started("b")
  tools.ended("a")
  tools.ended("never started")
  expect([tools.any, said]).toEqual([true, [true]])
  tools.ended("b")
  expect([tools.any, said]).toEqual([false, [true, false]])
})

test("forgets a tool whose end was never heard of", async () => {
  const forgotten = new Promise<boolean>((resolve) => {
    const tools = createRunningTools((any) => any || resolve(tools.any), 10)
    tools.started("a")
  })
  expect(await forgotten).toBe(false)
})

test("remembers a bounded number of tools", () => {
  const tools = createRunningTools(() => {})
  for (let n = 0; n < 200; n++) tools.started(`${n}`)
  for (let n = 0; n < 100; n++) tools.ended(`${n}`)
  expect(tools.any).toBe(false)
})
