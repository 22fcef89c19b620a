// A server with a password: the plugin's own calls to it are authorised too.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, type ModelRequest } from "../opencode/request.ts"
import {
  ALONE,
  converse,
  eventually,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  say,
  serveWorld,
  TWICE,
  use,
} from "../support/world.ts"

let world: ServedWorld
beforeAll(async () => {
  world = await serveWorld({
    // the unknown option gives the plugin something to log, by a call to the server
    plugin: [PLUGIN, { ...ALONE, unknown: true }],
    env: { OPENCODE_SERVER_PASSWORD: "open sésame", OPENCODE_SERVER_USERNAME: "someone" },
  })
}, PATIENCE_MS)
afterAll(() => world.close(), PATIENCE_MS)

test(
  "a turn has its HUD, and the plugin's line is in the log",
  async () => {
    const refused = await fetch(`${world.client.url}/config`)
    expect(refused.status).toBe(401)
    const { requests } = await converse(world, "Look at alpha", [use(read("alpha.txt")), TWICE, say("Done.")])
    expect(hudsOf(requests[2] as ModelRequest)).toHaveLength(1)
    await eventually("a line of the plugin's", () => world.host.log().includes("hudfold: ") || undefined)
  },
  PATIENCE_MS,
)
