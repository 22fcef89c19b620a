import { describe, expect, jest, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { BackendError } from "../../src/digest/backends/backend.ts"
import type { DigestCandidate } from "../../src/digest/candidate.ts"
import { createDigests, type Digests } from "../../src/digest/digests.ts"
import { root, spawnChild, temporaryFolder } from "../store/support.ts"
import { candidateOf, createScripted, draftOf, outputOf, sourceOf, writtenOf } from "./support.ts"

type Script = ReturnType<typeof createScripted>

/** Digests with a scripted model. Closed when disposed. */
function start(script: Script = createScripted()) {
  const troubles: string[] = []
  const digests = createDigests({
    backend: script.backend,
    onTrouble: (code, message) => troubles.push(`${code} ${message}`),
  })
  const queue = digests.queue as Queue
  return { digests, queue, troubles, script, [Symbol.asyncDispose]: () => queue.close() }
}

type Queue = NonNullable<Digests["queue"]>

/** Resolves when nothing is in work and nothing can start. What still waits then is held up by the pace, a tool or a retry. */
async function settled(queue: Queue): Promise<void> {
  for (let seen: unknown; seen !== queue.worked; ) {
    seen = queue.worked
    await seen
  }
}

/** Answers every call until the queue is idle; returns the names in the order of the calls. */
async function answerAll({ queue, script }: { queue: Queue; script: Script }, from = 0): Promise<string[]> {
  const end = settled(queue)
  let over = false
  void end.then(() => {
    over = true
  })
  while (!over) {
    const call = await Promise.race([script.next(), end])
    if (call) call.answer()
  }
  return script.calls.slice(from).map(({ name }) => name)
}

describe("what a model writes", () => {
  test("replaces the extract once it is known, and not before", async () => {
    await using hud = start()
    const extracted = hud.digests.of("key-a", sourceOf("a"))
    hud.queue.offer([candidateOf("a")])
    const call = await hud.script.next()
    expect(hud.digests.of("key-a", sourceOf("a"))).toEqual(extracted)
    call.answer()
    await settled(hud.queue)
    expect(writtenOf("a")).not.toEqual(extracted)
    expect(hud.digests.of("key-a", sourceOf("a"))).toEqual(writtenOf("a"))
    expect(hud.queue.counters).toMatchObject({ written: 1 })
  })

  test("is refused if nothing in it is true, and that content is not tried again", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a")])
    const call = await hud.script.next()
    call.answer({ summary: "Deployed zebra-9 to Mars in 4711 s" })
    await settled(hud.queue)
    expect(hud.digests.of("key-a", sourceOf("a"))).toEqual(createDigests().of("key-a", sourceOf("a")))
    hud.queue.offer([candidateOf("a")])
    await settled(hud.queue)
    expect(hud.script.calls.length).toBe(1)
    expect(hud.queue.counters).toMatchObject({ written: 0, refused: 1 })
  })

  test("is not asked for if code says as much", async () => {
    await using hud = start()
    const failing = { tool: "bash", kind: "command", input: { command: "bun test" }, failed: false, exit: 1 } as const
    hud.queue.offer([
      candidateOf("a", { worth: 9, source: () => ({ ...failing, output: "(fail) it adds\n\n 3 pass\n 1 fail\n" }) }),
      candidateOf("b"),
    ])
    const call = await hud.script.next()
    expect(call.name).toBe("b")
    call.answer()
    await settled(hud.queue)
    expect(hud.queue.counters).toMatchObject({ refused: 0, written: 1 })
  })

  test("is refused if it does not match the schema", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a")])
    const call = await hud.script.next()
    call.answer(null)
    await settled(hud.queue)
    expect(hud.queue.counters).toMatchObject({ written: 0, refused: 1, failed: 0 })
  })

  test("is not asked for within the caller's tick", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a")])
    expect(hud.script.calls.length).toBe(0)
    await hud.script.next()
  })
})

describe("what goes first", () => {
  test("the worthiest, one at a time", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 1 }), candidateOf("b", { worth: 3 }), candidateOf("c", { worth: 2 })])
    expect(await answerAll(hud)).toEqual(["b", "c", "a"])
    expect(hud.script.mostBusy).toBe(1)
  })

  test("those whose line is written already come last", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 1 }), candidateOf("b", { worth: 2 })])
    hud.queue.defer(["key-b"])
    expect(await answerAll(hud)).toEqual(["a", "b"])
  })

  test("if too many wait, the least worthy are dropped and keep their extract", async () => {
    await using hud = start()
    for (let n = 0; n < 40; n++) hud.queue.offer([candidateOf(`n${n}`, { worth: (n * 7) % 40 })])
    expect(hud.queue.waiting).toBe(32)
    const written = await answerAll(hud)
    expect(written.map((name) => (Number(name.slice(1)) * 7) % 40).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 32 }, (_, n) => n + 8),
    )
  })

  test("of a resumed session's 10,000 outputs only the worthiest few wait, and only the one in work is read", async () => {
    await using hud = start()
    let read = 0
    const candidates = Array.from({ length: 10_000 }, (_, n): DigestCandidate => {
      const source = () => {
        read++
        return sourceOf(`n${n}`, { output: outputOf(`n${n}`).padEnd(1_000_000, "\nand so on") })
      }
      return candidateOf(`n${n}`, { worth: (n * 7919) % 10_000, source })
    })
    hud.queue.offer(candidates)
    expect([read, hud.queue.waiting]).toEqual([0, 32])
    const call = await hud.script.next()
    expect(read).toBe(1)
    expect(call.prompt.text).toContain("n")
    const worth = candidates.find(({ key }) => key === `key-${call.name}`)?.worth
    expect(worth).toBe(9999)
  })
})

describe("repeated offers", () => {
  test("a content is digested once, however often and wherever it is offered", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a")])
    hud.queue.offer([candidateOf("a", { sessionID: "ses_2" })])
    const call = await hud.script.next()
    hud.queue.offer([candidateOf("a", { sessionID: "ses_3" })])
    call.answer()
    await settled(hud.queue)
    hud.queue.offer([candidateOf("a")])
    await settled(hud.queue)
    expect(hud.script.calls.length).toBe(1)
  })

  test("newer output about a subject replaces the one that waits", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("first", { worth: 9 })])
    const first = await hud.script.next()
    hud.queue.offer([candidateOf("old", { subject: "npm test" })])
    hud.queue.offer([candidateOf("new", { subject: "npm test" })])
    first.answer()
    expect(await answerAll(hud, 1)).toEqual(["new"])
    expect(hud.queue.counters).toMatchObject({ written: 2 })
  })

  test("newer output about a subject cancels the one in work", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("old", { subject: "npm test" })])
    const old = await hud.script.next()
    hud.queue.offer([candidateOf("new", { subject: "npm test" })])
    expect(old.signal.aborted).toBe(true)
    expect(await answerAll(hud, 1)).toEqual(["new"])
    expect(hud.queue.counters).toMatchObject({ written: 1, failed: 0 })
  })

  test("newer output about a subject does not cancel one that another session still needs", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("old", { subject: "npm test" })])
    const old = await hud.script.next()
    hud.queue.offer([candidateOf("old", { subject: "npm test", sessionID: "ses_2" })])
    hud.queue.offer([candidateOf("new", { subject: "npm test" })])
    expect(old.signal.aborted).toBe(false)
    old.answer()
    await answerAll(hud)
    expect(hud.queue.counters).toMatchObject({ written: 2 })
  })

  test("a content that is cancelled while in work and offered again is digested", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a")])
    const first = await hud.script.next()
    hud.queue.cancel({ sessionID: "ses_1" })
    hud.queue.offer([candidateOf("a")])
    expect(first.signal.aborted).toBe(true)
    expect(await answerAll(hud, 1)).toEqual(["a"])
    expect(hud.queue.counters).toMatchObject({ written: 1 })
  })
})

describe("cancelling", () => {
  test("a deleted session's outputs are dropped, the one in work is aborted, other sessions' stay", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 9 }), candidateOf("b"), candidateOf("c", { sessionID: "ses_2" })])
    const first = await hud.script.next()
    hud.queue.cancel({ sessionID: "ses_1" })
    expect([first.name, first.signal.aborted, hud.queue.waiting]).toEqual(["a", true, 1])
    expect(await answerAll(hud, 1)).toEqual(["c"])
    expect(hud.queue.counters).toMatchObject({ written: 1, failed: 0 })
  })

  test("a revert drops the outputs of its messages, and no others", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 9 }), candidateOf("b"), candidateOf("c")])
    const first = await hud.script.next()
    hud.queue.cancel({ sessionID: "ses_1", messageIDs: ["msg_b", "msg_elsewhere"] })
    expect([first.signal.aborted, hud.queue.waiting]).toEqual([false, 1])
    first.answer()
    expect(await answerAll(hud, 1)).toEqual(["c"])
  })

  test("an answer that arrives despite the abort is not used", async () => {
    const script = createScripted()
    const began = new Promise<void>((resolve) => {
      script.backend.write = async (_, signal) => {
        resolve()
        await new Promise((aborted) => signal.addEventListener("abort", aborted))
        return { structured: draftOf("a") }
      }
    })
    await using hud = start(script)
    hud.queue.offer([candidateOf("a")])
    await began
    hud.queue.cancel({ sessionID: "ses_1" })
    await settled(hud.queue)
    expect(hud.queue.counters).toMatchObject({ written: 0, refused: 0 })
  })
})

describe("the agent's pace", () => {
  const slow = { prefill: 50, decode: 10 }

  test("a model too slow to keep up waits until the agent is idle, and then gets the largest document", async () => {
    await using hud = start(createScripted({ speed: slow, maxDocumentTokens: 1234 }))
    hud.queue.offer([candidateOf("a", { output: outputOf("a", 900) })])
    await settled(hud.queue)
    expect([hud.script.calls.length, hud.queue.waiting]).toEqual([0, 1])
    hud.queue.drain()
    const call = await hud.script.next()
    expect(call.prompt.text.length).toBeGreaterThan(1234)
    call.answer()
    await settled(hud.queue)
    expect(hud.queue.counters.written).toBe(1)
  })

  test("it waits again when the agent resumes work", async () => {
    await using hud = start(createScripted({ speed: slow }))
    hud.queue.offer([candidateOf("a"), candidateOf("b")])
    hud.queue.drain()
    const call = await hud.script.next()
    hud.queue.offer([])
    call.answer()
    await settled(hud.queue)
    expect([hud.script.calls.length, hud.queue.waiting]).toEqual([1, 1])
  })

  test("a model that keeps up gets as much as it can read in time", async () => {
    const long = outputOf("a", 900)
    await using hud = start(createScripted({ speed: { prefill: 120, decode: 60 }, maxDocumentTokens: 4000 }))
    hud.queue.offer([candidateOf("a", { output: long })])
    const hurried = await hud.script.next()
    hurried.answer()
    await settled(hud.queue)
    hud.queue.offer([candidateOf("b", { output: long })])
    hud.queue.drain()
    const rested = await hud.script.next()
    rested.answer()
    expect(hurried.prompt.text.length * 3).toBeLessThan(rested.prompt.text.length)
  })
})

describe("while a local tool runs", () => {
  test("the model is paused and nothing new starts, until the last one ends", async () => {
    await using hud = start()
    hud.queue.toolStarted("one")
    hud.queue.toolStarted("two")
    hud.queue.toolStarted("two")
    hud.queue.offer([candidateOf("a")])
    await settled(hud.queue)
    hud.queue.toolEnded("one")
    await settled(hud.queue)
    expect([hud.script.pauses, hud.script.calls.length]).toEqual([[true], 0])
    hud.queue.toolEnded("two")
    hud.queue.toolEnded("two")
    const call = await hud.script.next()
    expect(hud.script.pauses).toEqual([true, false])
    call.answer()
  })

  test("what is in work is paused, not aborted", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a"), candidateOf("b")])
    const call = await hud.script.next()
    hud.queue.toolStarted("one")
    expect([hud.script.pauses, call.signal.aborted]).toEqual([[true], false])
    call.answer()
    await settled(hud.queue)
    expect([hud.script.calls.length, hud.queue.waiting]).toEqual([1, 1])
  })

  test("a model on another processor continues", async () => {
    await using hud = start(createScripted({ sharesProcessor: false }))
    hud.queue.toolStarted("one")
    hud.queue.offer([candidateOf("a")])
    const call = await hud.script.next()
    call.answer()
    expect(hud.script.pauses).toEqual([])
  })
})

describe("when the backend fails", () => {
  test("OFF ends the queue, is reported once, and extracts remain", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a"), candidateOf("b")])
    const call = await hud.script.next()
    call.fail(new BackendError("OFF", "no model; run setup"))
    await settled(hud.queue)
    hud.queue.offer([candidateOf("c")])
    hud.queue.drain()
    await settled(hud.queue)
    expect([hud.queue.waiting, hud.script.calls.length]).toEqual([0, 1])
    expect(hud.troubles).toEqual(["OFF no model; run setup"])
    expect(hud.digests.of("key-a", sourceOf("a"))).not.toBe("")
  })

  test("UNAVAILABLE keeps the output and tries again after a second", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a")])
    const first = await hud.script.next()
    const failedAt = performance.now()
    first.fail(new BackendError("UNAVAILABLE", "not there"))
    await settled(hud.queue)
    hud.queue.offer([candidateOf("b", { worth: 1 })])
    hud.queue.drain()
    await settled(hud.queue)
    expect([hud.script.calls.length, hud.queue.waiting]).toEqual([1, 2])
    const second = await hud.script.next()
    expect(performance.now() - failedAt).toBeGreaterThan(900)
    second.answer()
    expect(await answerAll(hud, 1)).toEqual(["a", "b"])
    expect(hud.queue.counters).toMatchObject({ failed: 0, written: 2 })
    expect(hud.troubles).toEqual(["UNAVAILABLE not there"])
  })

  test("the output is kept in the place where it was offered last", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { messageID: "msg_1" })])
    const first = await hud.script.next()
    hud.queue.offer([candidateOf("a", { messageID: "msg_2" })])
    first.fail(new BackendError("UNAVAILABLE", "not there"))
    await settled(hud.queue)
    hud.queue.cancel({ sessionID: "ses_1", messageIDs: ["msg_1"] })
    expect(hud.queue.waiting).toBe(1)
    hud.queue.cancel({ sessionID: "ses_1", messageIDs: ["msg_2"] })
    expect(hud.queue.waiting).toBe(0)
  })

  test("BUSY keeps the output and tries again every half minute, however often", async () => {
    jest.useFakeTimers()
    try {
      await using hud = start()
      hud.queue.offer([candidateOf("a")])
      for (let n = 1; n <= 10; n++) {
        hud.script.calls.at(-1)
        const call = await hud.script.next()
        call.fail(new BackendError("BUSY", "another has it"))
        await settled(hud.queue)
        jest.advanceTimersByTime(29_000)
        await settled(hud.queue)
        expect([hud.script.calls.length, hud.queue.waiting]).toEqual([n, 1])
        jest.advanceTimersByTime(1_000)
      }
      expect(hud.troubles).toEqual(["BUSY another has it"])
      expect(hud.queue.counters.failed).toBe(0)
    } finally {
      jest.useRealTimers()
    }
  })

  test("TIMEOUT drops the output, which may have been too long, and waits as well", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 9 }), candidateOf("b")])
    const call = await hud.script.next()
    call.fail(new BackendError("TIMEOUT", "60 s"))
    await settled(hud.queue)
    hud.queue.offer([candidateOf("a")])
    await settled(hud.queue)
    expect([hud.script.calls.length, hud.queue.waiting]).toEqual([1, 1])
    expect((await hud.script.next()).name).toBe("b")
  })

  test("BAD_ANSWER drops the output and continues with the next", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 9 }), candidateOf("b", { worth: 8 }), candidateOf("c")])
    for (let n = 0; n < 2; n++) {
      // a queue that waits for a retry would settle without another call
      const call = await Promise.race([hud.script.next(), settled(hud.queue)])
      call?.fail(new BackendError("BAD_ANSWER", `no JSON ${n}`))
    }
    expect(await answerAll(hud, 2)).toEqual(["c"])
    expect(hud.queue.counters).toMatchObject({ failed: 2, written: 1 })
    expect(hud.troubles).toEqual(["BAD_ANSWER no JSON 0"])
  })

  test.each([
    ["disk", new Error("disk")],
    ["an error without a message", Object.create(null)],
  ])("an error in the queue turns it off and does not reach the host: %s", async (message, thrown) => {
    const script = createScripted()
    await using hud = start({ ...script, backend: { ...script.backend, prepare: () => Promise.reject(thrown) } })
    hud.queue.offer([candidateOf("a"), candidateOf("b")])
    await settled(hud.queue)
    expect(hud.queue.waiting).toBe(0)
    expect(hud.troubles).toEqual([`OFF digests are no longer written: ${message}`])
  })

  test("an error that is not a BackendError neither stops it nor causes a hot loop", async () => {
    await using hud = start()
    hud.queue.offer([candidateOf("a", { worth: 9 }), candidateOf("b")])
    const call = await hud.script.next()
    call.fail(new TypeError("undefined is not a function"))
    await settled(hud.queue)
    expect([hud.script.calls.length, hud.queue.waiting, hud.queue.counters.failed]).toEqual([1, 1, 1])
    const next = await hud.script.next()
    expect(next.name).toBe("b")
    next.answer()
  })
})

describe("closing", () => {
  test("aborts what is in work, drops what waits, and is idempotent", async () => {
    const hud = start()
    hud.queue.offer([candidateOf("a"), candidateOf("b")])
    const call = await hud.script.next()
    await Promise.all([hud.queue.close(), hud.queue.close()])
    expect([call.signal.aborted, hud.queue.waiting]).toEqual([true, 0])
    hud.queue.offer([candidateOf("c")])
    hud.queue.drain()
    hud.queue.toolStarted("one")
    await settled(hud.queue)
    await hud.queue.close()
    expect([hud.script.calls.length, hud.script.pauses]).toEqual([1, []])
    expect(hud.queue.counters.failed).toBe(0)
  })

  test("a tool that ends later does not resume a closed backend", async () => {
    const hud = start()
    hud.queue.toolStarted("one")
    await hud.queue.close()
    hud.queue.toolEnded("one")
    expect(hud.script.pauses).toEqual([true])
  })

  test("neither a pending retry nor a tool that never ends keeps the process alive", async () => {
    using folder = temporaryFolder()
    const script = join(folder.path, "idle.ts")
    const from = (path: string) => JSON.stringify(join(root, path))
    writeFileSync(
      script,
      `import { createDigests, type Digests } from ${from("src/digest/digests.ts")}
import { BackendError } from ${from("src/digest/backends/backend.ts")}
import { candidateOf, createScripted } from ${from("test/digest/support.ts")}
const script = createScripted()
const { queue } = createDigests({ backend: script.backend })
queue.offer([candidateOf("a")])
const call = await script.next()
call.fail(new BackendError("UNAVAILABLE", "not there"))
await queue.worked
void script.next().then(() => process.stdout.write(" and tried again"))
createDigests({ backend: createScripted().backend }).queue.toolStarted("one")
process.stdout.write(String(queue.waiting))
`,
    )
    using child = spawnChild([process.execPath, script])
    expect(await child.finish()).toEqual({ code: 0, stdout: "1", stderr: "" })
  })
})
