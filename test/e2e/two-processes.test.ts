// Two OpenCode processes that share one model.

import { expect, test } from "bun:test"
import { join } from "node:path"
import { writeTinyModel } from "../support/gguf.ts"
import { plantSidecar, running } from "../support/sidecar.ts"
import { eventually, FILES, openWorld, PATIENCE_MS, PLUGIN, read, say, use } from "../support/world.ts"

const lines = (what: string) =>
  Array.from({ length: 120 }, (_, n) => `${what} ${n}: handled by src/${what}/${n}.ts`).join("\n")
const PROJECT = { ...FILES, "routes.txt": lines("route"), "jobs.txt": lines("job") }

test(
  "both sessions finish, the weights are loaded once, and no process is left",
  async () => {
    const { host, provider, close } = await openWorld({ plugin: [PLUGIN, { digest: { gpu: "off" } }], files: PROJECT })
    try {
      const model = join(host.root, "tiny.gguf")
      await writeTinyModel(model)
      const planted = plantSidecar(host.root, { model })
      const [one, other] = [await host.serve(), await host.serve()]
      const turn = async (client: typeof one, file: string) => {
        const session = await client.create()
        provider.play([use(read(file)), say("Done.")], session)
        await client.prompt(session, `Look at ${file}`)
        const stored = await client.messages(session)
        expect(stored.map(({ info }) => info.error)).toEqual(stored.map(() => undefined))
      }
      await turn(one, "routes.txt")
      const first = await eventually("the sidecar to start", () => running(planted.main)[0], PATIENCE_MS)
      await turn(other, "jobs.txt")
      await eventually("the second to say why it does without", () =>
        /hudfold: .*another (OpenCode|process)/.test(host.log()) ? true : undefined,
      )
      expect(running(planted.main).map(({ pid }) => pid)).toEqual([first.pid])
      await one.close()
      await other.close()
      await eventually("the sidecar to be gone", () => (running(planted.main).length ? undefined : true), PATIENCE_MS)
    } finally {
      await close()
    }
  },
  3 * PATIENCE_MS,
)
