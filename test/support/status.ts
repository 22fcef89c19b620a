// A status as a session well under way has it, for tests of what is shown of one.

import type { Status } from "../../src/status/status.ts"

export function statusOf(changes: Partial<Status> = {}): Status {
  return {
    version: 1,
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
      trend: [12_000, 20_000, 33_000, 41_000, 52_000, 64_000, 60_000, 71_000, 80_000, 87_400],
      compactions: 0,
    },
    saved: { tokens: 310_000, share: 0.31, usd: 1.2, calls: 42 },
    hud: { activity: "on", text: "<hud>\nstatus by hudfold, call 42\n</hud>", tokens: 132 },
    folding: {
      activity: "on",
      outputs: 12,
      savedTokens: 31_200,
      recalls: 1,
      newest: [
        fold({ id: "r12", what: "read src/db.ts 1-400" }),
        fold({ id: "r11", what: "grep sessionCookie", reason: "free", because: "the same again later" }),
      ],
    },
    failures: [{ what: "npm test", detail: "login.test.ts:42 expected 200, got 401", since: 38, times: 2 }],
    stale: [{ path: "src/auth/login.ts", why: "edited since read" }],
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

export function fold(changes: Partial<Status["folding"]["newest"][number]> = {}): Status["folding"]["newest"][number] {
  return {
    id: "r1",
    what: "read src/db.ts",
    reason: "pays",
    because: "it pays over the calls to come",
    call: 40,
    tokens: 4_100,
    textTokens: 90,
    messageID: "msg_1",
    partID: "prt_1",
    side: "output",
    ...changes,
  }
}
