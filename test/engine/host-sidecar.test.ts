// The supervised sidecar over real child processes that each do one thing wrong.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Lease } from "../../src/engine/lease.ts"
import { until } from "../store/support.ts"
import { childOf, children, errorOf, fixture, never, openSidecar, writing } from "./host.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

const pauseSeen = () => new Promise<undefined>((resolve) => setTimeout(resolve, 20))
const upper = (text: string) => ({ text: text.toUpperCase() })

afterAll(() => {
  expect(children().filter(({ command }) => command.includes("fixtures"))).toEqual([])
})

describe("a sidecar without fault", () => {
  test("is started by the first write and not before", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    expect([opened.sidecar.state.kind, childOf(spec)]).toEqual(["idle", undefined])
    const reply = await opened.sidecar.write(writing("a log"), never)
    expect(reply.structured).toEqual(upper("a log"))
    expect(opened.sidecar.state).toEqual({ kind: "ready" })
    expect(opened.sidecar.capabilities?.model.name).toBe("fixture")
  })

  test("answers writes in the order they were asked, one at a time", async () => {
    await using opened = openSidecar(fixture("plain"))
    const order: string[] = []
    const texts = ["one", "two", "three"]
    const writes = texts.map((text) => opened.sidecar.write(writing(text), never).then(() => order.push(text)))
    await Promise.all(writes)
    expect(order).toEqual(texts)
  })

  test("goes when nothing was asked for a while, and is back on demand", async () => {
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

  test("unloaded, it finishes what was asked before and is gone", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    const write = opened.sidecar.write(writing("x"), never)
    await opened.sidecar.unload()
    expect((await write).schemaOk).toBe(true)
    expect(childOf(spec)).toBeUndefined()
    expect(opened.reports.filter((line) => !line.startsWith("info fixture loaded"))).toEqual([])
  })

  test("closed, it is gone, takes no more, and closing again does nothing", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    await opened.sidecar.close()
    await opened.sidecar.close()
    expect(childOf(spec)).toBeUndefined()
    expect(opened.sidecar.state.kind).toBe("off")
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("CLOSED")
  })

  test.each(["while it starts", "while it works"])("closed %s, what is pending is rejected", async (when) => {
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
    // the fixture's answer to the cancelled one is on its way all the same; to the next one it comes with the pause
    for (let paused = true; (await Promise.race([next, pauseSeen()])) === undefined; paused = !paused)
      opened.sidecar.pause(paused)
    expect((await next).structured).toEqual(upper("next"))
  })

  test("while the model loads rejects at once, and the model is there for the next one", async () => {
    await using opened = openSidecar(fixture("plain"))
    const abort = new AbortController()
    const failed = errorOf(opened.sidecar.write(writing("useless"), abort.signal))
    await until(() => opened.sidecar.state.kind === "starting")
    abort.abort(new Error("reverted"))
    expect((await failed).message).toBe("reverted")
    expect((await opened.sidecar.write(writing("next"), never)).structured).toEqual(upper("next"))
  })

  test("aborted before it was its turn never reaches the sidecar", async () => {
    await using opened = openSidecar(fixture("plain"))
    expect((await errorOf(opened.sidecar.write(writing("x"), AbortSignal.abort(new Error("no"))))).message).toBe("no")
    expect(opened.sidecar.state.kind).toBe("idle")
  })
})

describe("a sidecar that is noisy on stdout", () => {
  test("is understood all the same, and said to be noisy once it ends", async () => {
    await using opened = openSidecar(fixture("noisy"))
    for (const text of ["a", "b"])
      expect((await opened.sidecar.write(writing(text), never)).structured).toEqual(upper(text))
    await opened.sidecar.close()
    const said = opened.reports.filter((line) => line.includes("stray lines"))
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/^debug sidecar: \d\d stray lines .* the first: llama_model_loader: loaded meta data/)
  })

  test("with a line of megabytes is understood, and not the answer hidden in it", async () => {
    await using opened = openSidecar(fixture("huge-line"))
    expect((await opened.sidecar.write(writing("a"), never)).structured).toEqual(upper("a"))
  })
})

describe("a sidecar that dies", () => {
  test("rejects the write it died of with how and its last words, secrets taken out, and is started again", async () => {
    await using opened = openSidecar(fixture("crashes-on-second"))
    const texts = ["1", "2", "3", "4", "5"]
    const results: string[] = []
    for (const text of texts)
      await opened.sidecar.write(writing(text), never).then(
        () => results.push("answered"),
        (error: Error & { code: string }) => results.push(`${error.code} ${error.message}`),
      )
    const death = `ENDED the sidecar went away (killed by SIGKILL; its last words: loading | GGML_ASSERT(buffer) failed, API_KEY=[redacted])`
    expect(results).toEqual(["answered", death, "answered", death, "answered"])
    const said = opened.reports.filter((line) => !line.includes("loaded on"))
    expect(said).toEqual([`info the sidecar failed and will be started again: ${death.slice(6)}`])
  })

  test("at once is tried as often as it is given rests, and then left alone", async () => {
    await using opened = openSidecar(fixture("exits"), { times: { restsMs: [0, 0, 600_000] } })
    const codes: string[] = []
    for (let attempt = 0; attempt < 5; attempt++)
      codes.push((await errorOf(opened.sidecar.write(writing("x"), never))).code ?? "")
    expect(codes).toEqual(["ENDED", "ENDED", "ENDED", "RESTING", "RESTING"])
    const reason = "the sidecar went away (exit code 3; its last words: error: cannot find what I need)"
    expect(opened.sidecar.state).toEqual({ kind: "degraded", reason })
    expect(opened.reports).toHaveLength(3)
    expect(opened.reports.filter((line) => line.startsWith("warn"))).toHaveLength(2)
  })

  test("waits its rest out before it is started again", async () => {
    await using opened = openSidecar(fixture("exits"), { times: { restsMs: [300, 0, 0] } })
    await errorOf(opened.sidecar.write(writing("x"), never))
    const start = performance.now()
    await errorOf(opened.sidecar.write(writing("x"), never))
    expect(performance.now() - start).toBeGreaterThanOrEqual(290)
  })

  test("cannot even be started: the write says which program and why", async () => {
    await using opened = openSidecar({ ...fixture("plain"), command: "/nowhere/bun" })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect(error.code).toBe("START_FAILED")
    expect(error.message).toMatch(/^\/nowhere\/bun could not be started: .*ENOENT/)
  })

  test("killed from outside between two writes, it is back for the second", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    process.kill(childOf(spec) ?? 0, "SIGKILL")
    await until(() => opened.sidecar.state.kind !== "ready")
    expect((await opened.sidecar.write(writing("again"), never)).structured).toEqual(upper("again"))
  })

  test("twice with the GPU goes on without it, and says so once", async () => {
    await using opened = openSidecar(fixture("crashes-on-gpu"))
    await errorOf(opened.sidecar.write(writing("x"), never))
    await errorOf(opened.sidecar.write(writing("x"), never))
    expect((await opened.sidecar.write(writing("x"), never)).schemaOk).toBe(true)
    const said = opened.reports.filter((line) => line.startsWith("warn"))
    expect(said).toEqual([
      expect.stringMatching(/^warn the sidecar failed twice with the GPU and goes on without it: /),
    ])
  })

  test("closes its stdout but lives: it is ended, and the write rejected", async () => {
    const spec = fixture("closes-stdout")
    await using opened = openSidecar(spec)
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("ENDED")
    expect(childOf(spec)).toBeUndefined()
  })
})

describe("a sidecar that hangs", () => {
  const quick = { tickMs: 20, silenceMs: 300 }

  test("is never ready: it is given up after the deadline, and ended", async () => {
    const spec = fixture("never-ready")
    await using opened = openSidecar(spec, { times: { helloMs: 300 } })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.message]).toEqual(["TIMEOUT", "engine/hello: no answer within 300 ms"])
    expect(childOf(spec)).toBeUndefined()
  })

  test("never reads: a document larger than the pipe hurts nobody", async () => {
    const spec = fixture("never-reads")
    await using opened = openSidecar(spec, { times: { helloMs: 300 }, version: "x".repeat(1_000_000) })
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("TIMEOUT")
    expect(childOf(spec)).toBeUndefined()
  })

  test("is silent while it owes an answer: it is ended", async () => {
    const spec = fixture("silent")
    await using opened = openSidecar(spec, { times: quick })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.message]).toEqual([
      "SILENT",
      expect.stringMatching(/^the sidecar gave no sign of life in/),
    ])
    expect(childOf(spec)).toBeUndefined()
    expect(opened.sidecar.state.kind).toBe("idle")
  })

  test("is silent while paused: it is left alone until it goes on", async () => {
    const spec = fixture("silent")
    await using opened = openSidecar(spec, { times: quick })
    opened.sidecar.pause(true)
    let failed: string | undefined
    const failing = errorOf(opened.sidecar.write(writing("x"), never)).then((error) => {
      failed = error.code
    })
    await until(() => opened.sidecar.state.kind === "ready")
    const seen = performance.now()
    await until(() => performance.now() - seen > 3 * quick.silenceMs)
    expect([failed, childOf(spec)]).toEqual([undefined, expect.any(Number)])
    opened.sidecar.pause(false)
    await failing
    expect(failed).toBe("SILENT")
  })

  test("takes too long though it is alive: the write is rejected, and ended when it does not stop", async () => {
    const spec = fixture("never-stops")
    await using opened = openSidecar(spec, { times: { ...quick, writeMs: 200 } })
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.message]).toEqual(["TIMEOUT", "no digest from the sidecar within 0.2 s"])
    const next = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([next.code, next.message]).toEqual(["SILENT", "the sidecar did not stop within 0.3 s"])
    expect(childOf(spec)).toBeUndefined()
  })

  test("ignores SIGTERM: it is gone all the same when it is closed", async () => {
    const spec = fixture("ignores-sigterm")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    await opened.sidecar.close()
    expect(childOf(spec)).toBeUndefined()
  })

  test("is stopped by SIGSTOP: it is gone all the same when it is closed", async () => {
    const spec = fixture("plain")
    await using opened = openSidecar(spec)
    await opened.sidecar.write(writing("x"), never)
    process.kill(childOf(spec) ?? 0, "SIGSTOP")
    await opened.sidecar.close()
    expect(childOf(spec)).toBeUndefined()
  })
})

describe("a sidecar that cannot work here", () => {
  test("of another version is off, with what to do", async () => {
    const spec = fixture("wrong-version")
    await using opened = openSidecar(spec)
    const reason = "the installed sidecar speaks protocol 999, this plugin 1; run `npx opencode-hudfold setup` again"
    expect(await errorOf(opened.sidecar.write(writing("x"), never))).toMatchObject({ code: "OFF", message: reason })
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("OFF")
    expect(opened.sidecar.state).toEqual({ kind: "off", reason })
    expect(opened.reports).toEqual([`warn the sidecar stays off: ${reason}`])
    expect(childOf(spec)).toBeUndefined()
  })

  test.each(["NO_ENGINE", "MODEL_MISSING", "MODEL_INVALID", "MODEL_TOO_LARGE"])(
    "refusing with %s is off",
    async (wire) => {
      await using opened = openSidecar(fixture("refuses", wire))
      const error = await errorOf(opened.sidecar.write(writing("x"), never))
      expect([error.code, error.message]).toEqual(["OFF", "engine/load: the model cannot be had"])
      expect(opened.reports).toEqual(["warn the sidecar stays off: engine/load: the model cannot be had"])
    },
  )

  test.each(["OUT_OF_MEMORY", "ENGINE_FAILED"])("refusing with %s is tried again", async (wire) => {
    await using opened = openSidecar(fixture("refuses", wire))
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.wire]).toEqual(["REFUSED", wire])
    expect(opened.sidecar.state.kind).toBe("idle")
  })

  test("too slow for this machine is off, with the figures", async () => {
    const spec = fixture("crawls")
    await using opened = openSidecar(spec)
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("OFF")
    expect(opened.reports).toEqual([
      expect.stringContaining(
        "the model fixture is too slow here: 20 tokens/s in and 2.0 out on the CPU make 43 s for a digest of 256 tokens",
      ),
    ])
    expect(childOf(spec)).toBeUndefined()
  })

  test("answering in another form than agreed on is started anew", async () => {
    await using opened = openSidecar(fixture("bad-replies"))
    expect((await errorOf(opened.sidecar.write(writing("x"), never))).code).toBe("BAD_REPLY")
    expect(opened.sidecar.state.kind).toBe("idle")
  })

  test("with an engine that failed in the middle is started anew", async () => {
    const spec = fixture("broken-engine")
    await using opened = openSidecar(spec)
    const error = await errorOf(opened.sidecar.write(writing("x"), never))
    expect([error.code, error.wire]).toEqual(["REFUSED", "ENGINE_FAILED"])
    expect(childOf(spec)).toBeUndefined()
  })
})
