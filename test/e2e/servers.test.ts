// What tools of MCP servers do, in the real OpenCode, and what the HUD says of it.

import { expect, test } from "bun:test"
import { hudsOf } from "../opencode/request.ts"
import { ALONE, converse, FILES, PATIENCE_MS, PLUGIN, say, serveWorld, use } from "../support/world.ts"

/** A server without a library: its results are the ones that it is started with, by tool. */
const SERVER = `
const results = JSON.parse(process.argv[2])
const answer = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "shop", version: "1.0.0" } }),
  "tools/list": () => ({ tools: Object.keys(results).map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": ({ name }) => results[name],
}
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answer[method]?.(params) ?? {} }))
})
`
const RUN = ` FAIL  src/cart.test.ts > adds
AssertionError: expected 3 to be 4
 ❯ src/cart.test.ts:4:20

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
`
const said = (text: string) => ({ content: [{ type: "text", text }] })
const RESULTS = {
  run_tests: said(RUN),
  run_configuration: { content: [], structuredContent: { exitCode: 1, timedOut: false, output: RUN } },
  edit_file: { ...said("Could not find exact match for edit:\nlet a"), isError: true },
  edit_block: said('Search content not found in beta.txt. The closest match was "b" with only 40% similarity'),
  write_file: said("Successfully wrote to gamma.txt"),
}

test(
  "a failing run stands in the HUD, and of edits only what was edited",
  async () => {
    const here = await serveWorld({
      plugin: [PLUGIN, ALONE],
      config: { mcp: { shop: { type: "local", command: ["node", "server.cjs", JSON.stringify(RESULTS)] } } },
      files: { ...FILES, "server.cjs": SERVER },
    })
    try {
      const call = (name: string, args: Record<string, unknown>) => use({ name: `shop_${name}`, arguments: args })
      const { requests } = await converse(here, "Mend the cart", [
        call("edit_file", { path: "alpha.txt", edits: [{ oldText: "let a", newText: "a" }] }),
        call("edit_block", { file_path: "beta.txt", old_string: "b", new_string: "c" }),
        call("write_file", { path: "gamma.txt", content: "c" }),
        call("run_configuration", { configurationName: "all" }),
        call("run_tests", { target: "src" }),
        say("It fails."),
      ])
      const huds = requests.flatMap(hudsOf)
      expect(huds.find((hud) => hud.includes("failing `shop_run_configuration all`"))).toContain("at call 4")
      expect(huds.at(-1)).toContain("failing `shop_run_tests src` at call 5")
      expect(huds.at(-1)).toContain("files edited: gamma.txt\n")
    } finally {
      await here.close()
    }
  },
  PATIENCE_MS,
)
