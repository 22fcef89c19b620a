// The supervised sidecar, with real child processes that each have one fault.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import type { Lease } from "../../src/engine/lease.ts"
import { PROTOCOL } from "../../src/engine/wire/messages.ts"
import { temporaryFolder, until } from "../store/support.ts"
import { childOf, children, errorOf, fixture, LOAD, never, openSidecar, writing } from "./host.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

const pauseSeen = () => new Promise<undefined>((resolve) => setTimeout(resolve, 20))
const upper = (text: string) => ({ text: text.toUpperCase() })

afterAll(() => {
  expect(children().filter(({ command }) => command.includes("fixtures"))).toEqual([])
})

describe("a sidecar without faults", () => {
  test("is started by the first write", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    expect([opened.sidecar.state.kind, childOf(spec)]).toEqual(["idle", undefined])
    const reply = await opened.sidecar.write(writing("a log"), never)
    expect(reply.structured).toEqual(upper("a log"))
    expect(opened.sidecar.state).toEqual({ kind: "ready" })
    expect(opened.sidecar.capabilities?.model.name).toBe("fixture")
  })

  test("answers writes in order, one at a time", async () => {
    await using opened = openSidecar(fixture("plain"))
    const order: string[] = []
    const texts = ["one", "two", "three"]
    const writes = texts.map((text) => opened.sidecar.write(writing(text), never).then(() => order.push(text)))
    await Promise.all(writes)
    expect(order).toEqual(texts)
  })

  test("ends when idle, and restarts on demand", async () => {
    const spec = fixture("plain")
    let held = false
    const lease: Lease = {
      acquire: async () => {
        held = true
        return "held"
      },
      release: () => {
        held = false
      },
    }
    await using opened = openSidecar(spec, { idleMs: 50, lease })
    await opened.sidecar.write(writing("x"), never)
    await until(() => opened.sidecar.state.kind === "idle" && !held && childOf(spec) === undefined)
    expect((await opened.sidecar.write(writing("again"), never)).structured).toEqual(upper("again"))
    expect(held).toBe(true)
  })

  test("does not end while a write takes longer than the idle time", async () => {
    const spec = fixture("slow")
    await using opened = openSidecar(spec, { idleMs: 50 })
    const first = opened.sidecar.write(writing("one"), never)
    await until(() => opened.sidecar.state.kind === "ready")
    const pid = childOf(spec)
    // three times the idle time, while the write still runs
    await new Promise((resolve) => setTimeout(resolve, 150))
    const second = opened.sidecar.write(writing("two"), never)
    opened.sidecar.pause(true)
    await first
    await pauseSeen()
    expect(childOf(spec)).toBe(pid as number)
    opened.sidecar.pause(false)
    expect((await second).structured).toEqual(upper("two"))
  })

  test("ends when closed, rejects further writes, and can be closed again", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    await opened.sidecar.close()
    await opened.sidecar.close()
    expect(childOf(spec)).toBeUndefined()
    expect(opened.sidecar.state.kind).toBe("off")
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("CLOSED")
  })

  test.each(["while it starts", "while it works"])("closed %s, it rejects pending writes", async (when) => {
    const spec = fixture("slow")
    await using opened = openSidecar(spec)
    const failed = errorOf(opened.sidecar.write(writing("x"), never))
    if (when === "while it works") await until(() => opened.sidecar.state.kind === "ready")
    else await until(() => opened.sidecar.state.kind === "starting")
    await opened.sidecar.close()
    expect((await failed).code).toBe("CLOSED")
    expect(childOf(spec)).toBeUndefined()
  })
})

describe("an aborted write", () => {
  test("rejects at once with the signal's reason, and the next one is answered", async () => {
    await using opened = openSidecar(fixture("slow"))
    const abort = new AbortController()
    const failed = errorOf(opened.sidecar.write(writing("useless"), abort.signal))
    await until(() => opened.sidecar.state.kind === "ready")
    abort.abort(new Error("reverted"))
    expect((await failed).message).toBe("reverted")
    const next = opened.sidecar.write(writing("next"), never)
    // the fixture still answers the cancelled write; each pause makes it answer the next one
    for (let paused = true; (await Promise.race([next, pauseSeen()])) === undefined; paused = !paused)
      opened.sidecar.pause(paused)
    expect((await next).structured).toEqual(upper("next"))
  })

  test("rejects at once while the model loads, and the next one finds it loaded", async () => {
    await using opened = openSidecar(fixture("plain"))
    const abort = new AbortController()
    const failed = errorOf(opened.sidecar.write(writing("useless"), abort.signal))
    await until(() => opened.sidecar.state.kind === "starting")
    abort.abort(new Error("reverted"))
    expect((await failed).message).toBe("reverted")
    expect((await opened.sidecar.write(writing("next"), never)).structured).toEqual(upper("next"))
  })

  test("never reaches the sidecar if it was aborted before its turn", async () => {
    await using opened = openSidecar(fixture("plain"))
    expect((await errorOf(opened.sidecar.write(writing("x"), AbortSignal.abort(new Error("no"))))).message).toBe("no")
    expect(opened.sidecar.state.kind).toBe("idle")
  })
})

describe("a sidecar that is noisy on stdout", () => {
  test("is understood", async () => {
    await using opened = openSidecar(fixture("noisy"))
    for (const text of ["a", "b"])
      expect((await opened.sidecar.write(writing(text), never)).structured).toEqual(upper(text))
  })

  test("is understood after a line of megabytes, and the answer hidden in that is ignored", async () => {
    await using opened = openSidecar(fixture("huge-line"))
    expect((await opened.sidecar.write(writing("a"), never)).structured).toEqual(upper("a"))
  })
})

describe("a sidecar that dies", () => {
  test("rejects the write with the exit status and its redacted last output, and is restarted", async () => {
    await using opened = openSidecar(fixture("crashes-on-second"))
    const texts = ["1", "2", "3", "4", "5"]
    const results: string[] = []
    for (const text of texts)
      await opened.sidecar.write(writing(text), never).then(
        () => results.push("answered"),
        (error: Error & { code: string }) => results.push(`${error.code} ${error.message}`),
      )
    const death = `the sidecar went away (killed by SIGKILL; last output: loading | GGML_ASSERT(buffer) failed, API_KEY=[redacted])`
    expect(results).toEqual(["answered", `CRASHED ${death}`, "answered", `CRASHED ${death}`, "answered"])
    const said = opened.reports.filter((line) => !line.includes("is loaded: "))
    expect(said).toEqual(Array(2).fill(`warn ${death}`))
  })

  test("at start is started again by the next write, and the failure is its state until then", async () => {
    await using opened = openSidecar(fixture("exits"), { load: { ...LOAD, gpu: "off" } })
    const reason = "the sidecar went away (exit code 3; last output: error: cannot find what I need)"
    for (let attempt = 0; attempt < 3; attempt++) {
      const error = await errorOf(opened.sidecar.write(writing("x"), never))
      expect([error.code, error.message]).toEqual(["ENDED", reason])
      expect(opened.sidecar.state).toEqual({ kind: "degraded", reason })
    }
    expect(opened.reports).toEqual([])
  })

  test("because it cannot be started rejects the write with the program and the reason", async () => {
    await using opened = openSidecar({ ...fixture("plain"), command: "/nowhere/bun" })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect(error.code).toBe("START_FAILED")
    expect(error.message).toMatch(/^\/nowhere\/bun could not be started: .*ENOENT/)
  })

  test("between two writes is restarted for the second", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    process.kill(childOf(spec) ?? 0, "SIGKILL")
    await until(() => opened.sidecar.state.kind !== "ready")
    expect((await opened.sidecar.write(writing("again"), never)).structured).toEqual(upper("again"))
  })

  test("twice with the GPU continues without it, and logs that once", async () => {
    await using opened = openSidecar(fixture("crashes-on-gpu"))
    await errorOf(opened.sidecar.write(writing("x"), never))
    await errorOf(opened.sidecar.write(writing("x"), never))
    expect((await opened.sidecar.write(writing("x"), never)).structured).not.toBeNull()
    const said = opened.reports.filter((line) => line.startsWith("warn"))
    expect(said).toEqual([
      expect.stringMatching(/^warn the sidecar failed twice with the GPU and continues without it: /),
    ])
  })

  test("because it closes its stdout is ended, and the write is rejected", async () => {
    const spec = fixture("closes-stdout")
    await using opened = openSidecar(spec)
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("CRASHED")
    expect(childOf(spec)).toBeUndefined()
  })
})

describe("a sidecar that hangs", () => {
  const quick = { tickMs: 20, writeMs: 300 }

  test("at start is ended after the deadline", async () => {
    const spec = fixture("never-ready")
    await using opened = openSidecar(spec, { times: { helloMs: 300 } })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.message]).toEqual(["START_FAILED", "engine/hello: no answer within 0.3 s"])
    expect(childOf(spec)).toBeUndefined()
  })

  test("before it has seen the model, twice, is not taken for a faulty GPU", async () => {
    await using opened = openSidecar(fixture("never-ready"), { times: { helloMs: 300 } })
    for (let attempt = 0; attempt < 2; attempt++) await errorOf(opened.sidecar.write(writing("x"), never))
    expect([LOAD.gpu, opened.reports]).toEqual(["auto", []])
  })

  test("without reading does not block the host, even if a request is larger than the pipe", async () => {
    const spec = fixture("never-reads")
    await using opened = openSidecar(spec, { times: { loadMs: 300 } })
    const large = { ...writing("x"), instruction: "x".repeat(1_000_000) }
    expect((await errorOf(opened.sidecar.write(large, never))).message).toContain("engine/load: no answer within 0.3 s")
    expect(childOf(spec)).toBeUndefined()
  })

  test("during work is ended", async () => {
    const spec = fixture("silent")
    await using opened = openSidecar(spec, { times: quick })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.message]).toEqual(["TIMEOUT", "digest/write: no answer within 0.3 s"])
    expect(childOf(spec)).toBeUndefined()
    expect(opened.sidecar.state.kind).toBe("degraded")
  })

  test("while paused is not ended until it is resumed", async () => {
    const spec = fixture("silent")
    await using opened = openSidecar(spec, { times: quick })
    opened.sidecar.pause(true)
    let failed: string | undefined
    const failing = errorOf(opened.sidecar.write(writing("x"), never)).then((error) => {
      failed = error.code
    })
    await until(() => opened.sidecar.state.kind === "ready")
    const seen = performance.now()
    await until(() => performance.now() - seen > 3 * quick.writeMs)
    expect([failed, childOf(spec)]).toEqual([undefined, expect.any(Number)])
    opened.sidecar.pause(false)
    await failing
    expect(failed).toBe("TIMEOUT")
  })

  test("when a write is aborted is ended, for which the next write is not blamed", async () => {
    const spec = fixture("silent")
    await using opened = openSidecar(spec, { times: quick })
    const abort = new AbortController()
    const aborted = errorOf(opened.sidecar.write(writing("x"), abort.signal))
    await until(() => opened.sidecar.state.kind === "ready")
    abort.abort(new Error("reverted"))
    expect((await aborted).message).toBe("reverted")
    const next = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([next.code, next.message]).toEqual(["ENDED", "digest/write: no answer within 0.3 s"])
    expect(childOf(spec)).toBeUndefined()
  })

  test("and ignores the end of its stdin is gone when it is closed", async () => {
    const spec = fixture("ignores-end")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    await opened.sidecar.close()
    expect(childOf(spec)).toBeUndefined()
  })
})

describe("a sidecar that cannot work", () => {
  test("because of its protocol version is off, and says what to do", async () => {
    const spec = fixture("wrong-version")
    await using opened = openSidecar(spec)
    const reason = `the installed sidecar speaks protocol 999, this plugin ${PROTOCOL}; restart OpenCode, or run \`hudfold setup\` again`
    expect(await errorOf(opened.sidecar.write(writing("x"), never))).toMatchObject({ code: "OFF", message: reason })
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("OFF")
    expect(opened.sidecar.state).toEqual({ kind: "off", reason })
    expect(opened.reports).toEqual([`warn the sidecar stays off: ${reason}`])
    expect(childOf(spec)).toBeUndefined()
  })

  test.each(["NO_ENGINE", "MODEL_MISSING", "MODEL_INVALID", "MODEL_TOO_LARGE"])(
    "because it refuses with %s is off",
    async (wire) => {
      await using opened = openSidecar(fixture("refuses", wire))
      const error = await errorOf(opened.sidecar.write(writing("x"), never))
      expect([error.code, error.message]).toEqual(["OFF", "engine/load: the model cannot be had"])
      expect(opened.reports).toEqual(["warn the sidecar stays off: engine/load: the model cannot be had"])
    },
  )

  test.each(["OUT_OF_MEMORY", "ENGINE_FAILED"])("but refuses with %s is retried", async (wire) => {
    await using opened = openSidecar(fixture("refuses", wire))
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    // a refused document would be given up
    expect([error.code, error.message]).toEqual(["START_FAILED", "engine/load: the model cannot be had"])
    expect(opened.sidecar.state.kind).toBe("degraded")
  })

  test("because it was too slow a few times is off, and says the speeds", async () => {
    const spec = fixture("crawls")
    await using opened = openSidecar(spec)
    const codes: unknown[] = []
    for (let start = 0; start < 6; start++) codes.push((await errorOf(opened.sidecar.write(writing("x"), never))).code)
    expect(codes).toEqual([...Array(4).fill("START_FAILED"), "OFF", "OFF"])
    expect(opened.reports).toEqual([
      expect.stringContaining("reads 20 and writes 2.0 tokens/s, so a digest of 256 tokens would take 42.8 s"),
    ])
    expect(childOf(spec)).toBeUndefined()
  })

  test("because other programs had the processor while it was measured works later", async () => {
    using folder = temporaryFolder()
    await using opened = openSidecar(fixture("slow-at-first", join(folder.path, "starts"), "2"))
    for (let start = 0; start < 2; start++) {
      expect((await errorOf(opened.sidecar.write(writing("x"), never))).message).toMatch(
        /is too slow here.*choose a faster model of hudfold model list$/,
      )
      expect(opened.sidecar.state.kind).toBe("degraded")
    }
    expect((await opened.sidecar.write(writing("x"), never)).structured).toEqual({ text: "X" })
    expect(opened.sidecar.state.kind).toBe("ready")
  })

  test("because its replies are malformed is restarted", async () => {
    await using opened = openSidecar(fixture("bad-replies"))
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("BAD_REPLY")
    expect(opened.sidecar.state.kind).toBe("degraded")
  })

  test("because its engine failed is restarted", async () => {
    const spec = fixture("broken-engine")
    await using opened = openSidecar(spec)
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.wire]).toEqual(["REFUSED", "ENGINE_FAILED"])
    expect(childOf(spec)).toBeUndefined()
  })
})
