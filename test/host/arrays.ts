// Random and mutated message arrays for the hooks: every part type of OpenCode, in old and new shapes, damaged as imports,
// other plugins and bugs could damage them.

import fc from "fast-check"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"

const word = fc.constantFrom(
  "",
  "a",
  "src/a.ts",
  "/r/b.md",
  "npm test",
  "</hud>",
  "<hud>",
  "\u0000",
  "\ud800",
  "x".repeat(300),
  "1 failed",
  "error: no\n at b.ts:3",
  "日本",
)
/** Long enough to be worth a fold. */
const long = fc.constantFrom(
  "src/a.ts:3: one\n".repeat(100),
  `<hud>${"folded r4k2x9db · read · ".repeat(60)}`,
  "x".repeat(3000),
)
const id = fc.constantFrom("m1", "m2", "m3", "m4", "", "msg_hudfold", "msg_hudfold_3")
const junk = fc.constantFrom<unknown>(undefined, null, 0, -1, Number.NaN, "", "junk", true, [], {}, [null], {
  a: { b: [1] },
})
const count = fc.constantFrom<unknown>(0, 1, 5000, 1e12, -3, null, undefined)

const state = fc.record(
  {
    status: fc.constantFrom<unknown>("completed", "completed", "completed", "error", "running", "pending", "odd", 7),
    input: fc.oneof(
      fc.record(
        {
          filePath: word,
          command: word,
          pattern: word,
          url: word,
          patchText: word,
          todos: fc.array(fc.record({ content: word, status: word }), { maxLength: 2 }),
          offset: count,
        },
        { requiredKeys: [] },
      ),
      junk,
    ),
    output: fc.oneof(word, long, long, junk),
    error: fc.oneof(word, junk),
    metadata: fc.oneof(fc.record({ exit: count, todos: junk, files: junk, display: junk }, { requiredKeys: [] }), junk),
    time: fc.oneof(fc.record({ start: count, end: count, compacted: count }, { requiredKeys: [] }), junk),
  },
  { requiredKeys: ["status"] },
)

const part: fc.Arbitrary<HostPart> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("tool"),
      id: word,
      tool: fc.constantFrom("read", "edit", "write", "bash", "grep", "apply_patch", "todowrite", "task", "mcp_x", ""),
      callID: word,
      state,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("text"),
      text: fc.oneof(word, junk),
      synthetic: fc.boolean(),
      ignored: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "reasoning",
        "file",
        "agent",
        "subtask",
        "step-start",
        "step-finish",
        "snapshot",
        "patch",
        "retry",
        "compaction",
        "unknown",
      ),
      text: word,
      files: junk,
      tail_start_id: id,
    }),
  },
  { weight: 1, arbitrary: junk as fc.Arbitrary<HostPart> },
) as fc.Arbitrary<HostPart>

const info = fc.record(
  {
    id,
    role: fc.constantFrom<unknown>("user", "assistant", "assistant", "system", 3),
    sessionID: fc.constantFrom<unknown>("s1", "s1", "s2", 4),
    summary: fc.constantFrom<unknown>(undefined, true, { diffs: [] }),
    error: fc.constantFrom<unknown>(undefined, undefined, { name: "E" }),
    model: fc.constantFrom<unknown>(
      { providerID: "anthropic", modelID: "claude-sonnet-4-5" },
      { providerID: "mistral", modelID: "x" },
      { providerID: "anthropic", modelID: "claude-sonnet-5-5" },
      null,
    ),
    tokens: fc.oneof(
      fc.record({ input: count, output: count, cache: fc.oneof(fc.record({ read: count, write: count }), junk) }),
      junk,
    ),
    time: fc.oneof(fc.record({ created: count }), junk),
    path: fc.constantFrom<unknown>({ root: "/r", cwd: "/r" }, undefined, 3),
  },
  { requiredKeys: ["id", "role", "sessionID"] },
)

const message = fc.oneof(
  { weight: 30, arbitrary: fc.record({ info, parts: fc.array(part, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ info: junk, parts: junk }) },
)

/** Steps after which outputs are folded, and those after which whole steps are. */
const quiet = Array.from({ length: 12 }, (_, n) => ({
  info: { id: `m_quiet_${n}`, role: "assistant", sessionID: "s1" },
  parts: [{ type: "tool", id: `p_quiet_${n}`, tool: "bash", state: { status: "completed", input: {}, output: "ok" } }],
}))
const tail = fc.constantFrom([], [], quiet.slice(0, 4), quiet)

/** An array as OpenCode might pass it to the messages hook. */
export const messageArrays = fc
  .tuple(fc.array(message, { maxLength: 5 }), tail)
  .map(([messages, after]) => [...messages, ...after]) as unknown as fc.Arbitrary<HostMessage[]>
