// The choice between GPU and CPU, for every way opening them can turn out.

import { describe, expect, test } from "bun:test"
import { chooseDevice, type NodeLlamaCpp, type Opened, openCpu, threadsFor } from "../../sidecar/device.ts"
import type { GpuChoice } from "../../src/engine/wire/messages.ts"

const QUICK = { prefill: 5000, decode: 100 }
const MIDDLING = { prefill: 200, decode: 30 }
const SLOW = { prefill: 3, decode: 0.2 }

/** A machine on which opening a device gives a speed, or fails with a reason. */
function machine(gpu: Opened["speed"] | string | undefined, processor: Opened["speed"] | string) {
  const signal = new AbortController()
  const opened: string[] = []
  let now = 0
  const open = async (choice: GpuChoice) => {
    const on = choice === "off" || (choice === "auto" && gpu === undefined) ? "off" : "vulkan"
    opened.push(on)
    const result = on === "off" ? processor : gpu
    if (typeof result !== "object") throw new Error(result ?? "this machine has none")
    // never two at once
    expect(++now).toBe(1)
    return { gpu: on, speed: result, close: async () => void now-- } satisfies Opened as Opened
  }
  return {
    opened,
    signal,
    choose: (asked: GpuChoice) => chooseDevice(asked, open, signal.signal),
  }
}

test("a fast GPU is used without measuring the CPU", async () => {
  const { choose, opened } = machine(QUICK, MIDDLING)
  expect(await choose("auto")).toMatchObject({ opened: { gpu: "vulkan" } })
  expect(opened).toEqual(["vulkan"])
})

test("with auto, a GPU that is slower than the CPU is not used, and the reason names both speeds", async () => {
  const { choose, opened } = machine(SLOW, MIDDLING)
  const { opened: chosen, fallback } = await choose("auto")
  expect(chosen.gpu).toBe("off")
  expect(fallback).toBe(
    "vulkan is not used: it reads 3 and writes 0.2 tokens a second, the CPU reads 200 and writes 30 tokens a second",
  )
  expect(opened).toEqual(["vulkan", "off"])
})

test("with auto, a slow GPU is used if the CPU is even slower or cannot load the model", async () => {
  for (const processor of [SLOW, "too large"]) {
    const { choose, opened } = machine(MIDDLING, processor)
    const chosen = await choose("auto")
    expect(chosen).toMatchObject({ opened: { gpu: "vulkan" } })
    expect(chosen.fallback).toBeUndefined()
    expect(opened).toEqual(["vulkan", "off", "vulkan"])
  }
})

test("a GPU requested by name is used, however slow", async () => {
  const { choose, opened } = machine(SLOW, QUICK)
  expect(await choose("vulkan")).toMatchObject({ opened: { gpu: "vulkan" } })
  expect(opened).toEqual(["vulkan"])
})

test("a GPU that fails is replaced by the CPU, with the reason", async () => {
  expect(await machine("no driver", MIDDLING).choose("auto")).toMatchObject({
    opened: { gpu: "off" },
    fallback: "the GPU is not used: no driver",
  })
  expect(await machine(undefined, MIDDLING).choose("vulkan")).toMatchObject({
    opened: { gpu: "off" },
    fallback: "vulkan is not used: this machine has none",
  })
})

test("without a GPU, auto is the CPU, without a reason", async () => {
  const { choose, opened } = machine(undefined, MIDDLING)
  const chosen = await choose("auto")
  expect(chosen.opened.gpu).toBe("off")
  expect(chosen.fallback).toBeUndefined()
  expect(opened).toEqual(["off"])
})

test("with off no GPU is opened", async () => {
  const { choose, opened } = machine(QUICK, MIDDLING)
  expect(await choose("off")).toMatchObject({ opened: { gpu: "off" } })
  expect(opened).toEqual(["off"])
})

test("if both fail, the error is that of the CPU", async () => {
  await expect(machine("no driver", "no memory").choose("auto")).rejects.toThrow("no memory")
})

test("a cancelled load does not try the CPU", async () => {
  const { choose, signal, opened } = machine("no driver", MIDDLING)
  signal.abort(new Error("cancelled"))
  await expect(choose("auto")).rejects.toThrow("cancelled")
  expect(opened).toEqual(["vulkan"])
})

describe("threads by math cores and available cores", () => {
  const rows: [asked: number, cores: number, available: number, threads: number][] = [
    [0, 1, 1, 1],
    [0, 2, 2, 1],
    [0, 3, 3, 1],
    [0, 4, 8, 2],
    [0, 8, 16, 4],
    [0, 64, 128, 6],
    [0, 64, 2, 1],
    [4, 8, 16, 4],
    [16, 2, 2, 2],
  ]
  for (const [asked, cores, available, threads] of rows) {
    test(`${asked || "none"} requested, ${cores} and ${available}: ${threads}`, () => {
      expect(threadsFor(asked, cores, available)).toBe(threads)
    })
  }
})

test("an engine that cannot be loaded may be in a folder that forbids it", async () => {
  class NoBinaryFoundError extends Error {}
  const getLlama = async () => {
    throw new NoBinaryFoundError()
  }
  const engine = { NoBinaryFoundError, getLlama, LlamaLogLevel: {} } as unknown as NodeLlamaCpp
  await expect(openCpu(engine, () => {})).rejects.toThrow(/noexec, which HUDFOLD_DATA avoids/)
})
