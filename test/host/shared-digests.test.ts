// One model for all directories of a process whose `digest` options are the same.

import { expect, test } from "bun:test"
import { shareDigests } from "../../src/host/digests.ts"
import { createLog } from "../../src/host/log.ts"
import { optionsSchema } from "../../src/options.ts"

const share = (options: object) =>
  shareDigests(optionsSchema.parse({ digest: { backend: "llama" }, ...options }), createLog(undefined))

test("projects share a queue if their digest options are the same, whatever their store", async () => {
  const [one, other] = [share({}), share({ store: { enabled: false } })]
  const third = share({ digest: { backend: "llama", threads: 2 } })
  expect(other.queue).toBe(one.queue)
  expect(third.queue).not.toBe(one.queue)
  await Promise.all([one, other, third].map(({ release }) => release()))
})
