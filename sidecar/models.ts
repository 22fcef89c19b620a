// What must be known of a model file before it is given to the engine, which says of a bad one no more than "Failed to
// load model": whether it is a model at all, what memory it needs, what memory there is.

import { open, readFile, stat } from "node:fs/promises"
import { EngineError, messageOf } from "./errors.ts"

const MAGIC = "GGUF"
const VERSIONS = [2, 3]

/** What the process itself needs beside the model: runtime, engine, tokenizer; 110 to 160 MB were measured. */
const PROCESS_BYTES = 150_000_000

/** How much of the free memory a model may take when nobody set a limit. */
const SHARE_OF_FREE = 0.75

/**
 * The file's size in bytes. Throws an `EngineError`: MODEL_MISSING when there is no such file, MODEL_INVALID when its
 * first bytes are not those of a GGUF file.
 */
export async function inspectModel(path: string): Promise<number> {
  const info = await stat(path).catch((error: unknown) => {
    throw new EngineError(
      "MODEL_MISSING",
      `no model at ${path} (${messageOf(error)}); run \`hudfold model list\` and choose one`,
      { cause: error },
    )
  })
  if (!info.isFile()) throw invalid(path, "it is not a file")
  const head = await readHead(path, 512)
  if (head.length === 0) throw invalid(path, "it is empty")
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(head.toString("latin1")))
    throw invalid(path, "it is a web page, as servers send in place of a file they do not have")
  if (head.toString("latin1", 0, 4) !== MAGIC) throw invalid(path, "it does not begin with GGUF")
  const version = head.length < 8 ? 0 : head.readUInt32LE(4)
  if (!VERSIONS.includes(version))
    throw invalid(path, `its GGUF version is ${version}, ${VERSIONS.join(" and ")} are known`)
  return info.size
}

export function invalid(path: string, why: string, cause?: unknown): EngineError {
  return new EngineError(
    "MODEL_INVALID",
    `${path} is no model that can be used: ${why}; fetch it again or choose another`,
    { cause },
  )
}

export type MemoryNeed = {
  /** weights and context, in bytes, as estimated */
  bytes: number
  /** the limit that was set; 0: none */
  limitBytes: number
  /** what is free now */
  freeBytes: number
}

/** Throws an `EngineError` MODEL_TOO_LARGE that names both figures. */
export function checkMemory(path: string, { bytes, limitBytes, freeBytes }: MemoryNeed): void {
  const needed = bytes + PROCESS_BYTES
  const available = limitBytes || Math.floor(freeBytes * SHARE_OF_FREE)
  if (needed <= available) return
  const whose = limitBytes ? "the option digest.memoryMB allows" : `of ${megabytes(freeBytes)} MB free it may take`
  throw new EngineError(
    "MODEL_TOO_LARGE",
    `${path} needs ${megabytes(needed)} MB, ${whose} ${megabytes(available)} MB; choose a smaller model`,
  )
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000)

/**
 * Memory that can be had without swapping, in bytes. `otherwise` is what the engine says, used where there is no
 * /proc: on Linux it counts what was never used and not what can be given back. A container's own limit counts too.
 */
export async function freeMemory(otherwise: number): Promise<number> {
  const meminfo = await readText("/proc/meminfo")
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1]
  const system = available === undefined ? otherwise : Number(available) * 1024
  const [most, used, statistics] = await Promise.all(
    ["max", "current", "stat"].map((name) => readText(`/sys/fs/cgroup/memory.${name}`)),
  )
  const limit = Number.parseInt(most ?? "", 10)
  if (!Number.isFinite(limit)) return system
  const cached = Number(/^inactive_file (\d+)/m.exec(statistics ?? "")?.[1] ?? 0)
  return Math.max(0, Math.min(system, limit - (Number.parseInt(used ?? "", 10) || 0) + cached))
}

const readText = (path: string) => readFile(path, "utf8").catch(() => "")

async function readHead(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path).catch((error: unknown) => {
    throw invalid(path, `it cannot be read (${messageOf(error)})`, error)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
