// Where only the last message of a request has a cache mark, a HUD that moves would leave nothing in the cache that the next
// request begins with.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { newSessionState } from "../../src/request/request.ts"
import { FOLDING, prepare } from "../support/conversation.ts"
import { MODEL } from "../support/driver.ts"
import { PRICING } from "../support/pricing.ts"
import { ROOT, read, usage } from "../support/session.ts"
import { load, worked } from "./loaded.ts"

const GATEWAY = { api: { npm: "@ai-sdk/gateway" } }

test.each([
  ["OpenCode sets no marks because the model's options do", { options: { cacheControl: { type: "ephemeral" } } }, true],
  ["a gateway sets the marks for Claude", GATEWAY, true],
  ["a gateway's model caches without marks", { ...GATEWAY, providerID: "vercel", id: "openai/gpt-5.2" }, false],
  ["OpenCode marks the message before the HUD too", {}, false],
])("whether each HUD stays where it was, where %s", async (_, more, stays) => {
  const hooks = await load()
  const session = worked("ses_marked")
  await hooks.event("session.status", { sessionID: "ses_marked", status: { type: "busy" } })
  await hooks.model("ses_marked", { ...MODEL, ...more })
  const first = await hooks.transform(session.fresh())
  expect(JSON.stringify(first.at(-1))).toContain("<hud>")
  session.assistant([read("src/next.ts")], usage(400, 4400))
  const next = await hooks.transform(session.fresh())
  await hooks.dispose()
  expect(JSON.stringify(next.slice(0, first.length)) === JSON.stringify(first)).toBe(stays)
})

test("a HUD stays where it was once the provider keeps reading less from its cache than expected", () => {
  const env = createEnv(ROOT)
  const slotWith = (stopped: object, providerID = "anyone") => {
    const state = newSessionState(env)
    Object.assign(state.folding.calibration, stopped)
    const circumstances = { nowMs: 0, pricing: PRICING, model: { providerID, modelID: "any" } }
    const options = { ...FOLDING, hud: { ...FOLDING.hud, enabled: true } }
    return prepare(worked("ses_short").fresh(), state, circumstances, options, env).change.hud.slot
  }
  expect(slotWith({})).toBe("tail")
  expect(slotWith({ stopped: "3 calls read less" })).toBe("sticky")
  // which take no message of the plugin's own there
  expect(slotWith({ stopped: "3 calls read less" }, "mistral")).toBe("tool")
})
