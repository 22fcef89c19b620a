// A status as a session well under way has it, for tests of what is shown of one.

import type { Status } from "../../src/status/status.ts"

export function statusOf(changes: Partial<Status> = {}): Status {
  return {
    version: 4,
    plugin: "0.1.0",
    sessionID: "ses_1",
    directory: "/home/dev/shop",
    pid: process.pid,
    writtenMs: 1_700_000_000_000,
    calls: 42,
    model: "scripted/scripted-1",
    context: {
      tokens: 87_400,
      estimated: false,
      limit: 200_000,
      compactsAt: 168_000,
      cachedShare: 0.96,
      compactions: 0,
    },
    saved: { tokens: 310_000, share: 0.31, usd: 1.2, paidUsd: 2.67, calls: 42, billing: "tokens" },
    hud: { activity: "on", text: "<hud>\nhudfold status, call 42\n</hud>", tokens: 132 },
    folding: {
      activity: "on",
      outputs: 12,
      steps: 39,
      savedTokens: 31_200,
      recalls: 1,
      newest: [
        fold({ id: "r4k2x9d1", what: "read src/db.ts 1-400" }),
        fold({
          id: "r0b7c1aa",
          what: "grep sessionCookie",
          reason: "free",
          because: "an older search",
          cutBecause: "nothing was cached",
        }),
      ],
      episodes: [episode()],
      kept: {
        open: 8,
        settled: 2,
        outputs: 0,
        tokens: 3_000,
        reasons: [
          { why: "among the newest", steps: 5 },
          { why: "its file was edited lately", steps: 3 },
        ],
        newest: [{ step: 42, messageID: "msg_42", what: "npm test", tokens: 700, why: "among the newest" }],
      },
    },
    failures: [{ what: "npm test", detail: "login.test.ts:42 expected 200, got 401", since: 38, times: 2 }],
    stale: [{ path: "src/auth/login.ts", why: "changed on disk since read" }],
    writer: {
      backend: "llama",
      state: "ready",
      model: "qwen3-0.6b",
      device: "CPU",
      speed: { prefill: 212.4, decode: 31.2 },
      waiting: 2,
      working: true,
      written: 9,
    },
    ...changes,
  }
}

type Folding = Status["folding"]

export function fold(changes: Partial<Folding["newest"][number]> = {}): Folding["newest"][number] {
  return {
    id: "r0000001",
    what: "read src/db.ts",
    reason: "pays",
    because: "a file that was read",
    cutBecause: "it pays over the calls to come",
    call: 40,
    tokens: 4_100,
    textTokens: 90,
    messageID: "msg_1",
    partID: "prt_1",
    kind: "output",
    step: 20,
    ...changes,
  }
}

/** An episode of 39 steps, of which the last two are listed. */
export function episode(changes: Partial<Folding["episodes"][number]> = {}): Folding["episodes"][number] {
  const step = (number: number, what: string) =>
    fold({
      id: `r00000${number}`,
      kind: "step",
      step: number,
      what,
      partID: `msg_${number}`,
      messageID: `msg_${number}`,
    })
  return {
    from: 3,
    to: 41,
    count: 39,
    savedTokens: 21_000,
    record: "Steps 3-41 of this session, kept by hudfold as a record:\n40 read src/db.ts\n41 npm test: 3 passed",
    steps: [step(40, "read src/db.ts"), step(41, "npm test")],
    ...changes,
  }
}
