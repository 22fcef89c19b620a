// Fetches a model's file: to a `.part` beside its place, continued from where an earlier run stopped, checked against
// its checksum while it comes, and renamed into place when it is whole.

import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, lstat, open, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { feedFile, hashFile } from "../engine/model-file.ts"
import { reasonOf, SetupError, systemCode } from "./errors.ts"
import { checkRoom, freeIn, megabytes } from "./folder.ts"
import { type HoldOptions, holding } from "./hold.ts"
import { ask, byHand, type Environment, type HubFile } from "./hub.ts"

export type DownloadOptions = HoldOptions & {
  env: Environment
  /** called often; the total is unknown where the server does not say */
  onProgress?: (doneBytes: number, totalBytes: number | undefined) => void
  /** called when the connection failed and will be tried again */
  onRetry?: (reason: string) => void
}

const MAGIC = "GGUF"
/** Attempts in a row that bring nothing, before giving up: while nothing has come at all, and later. */
const MOST_ATTEMPTS = { atFirst: 2, later: 5 }
const FIRST_PAUSE_MS = 500
/** Neither follows a link. */
const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC, O_NOFOLLOW = 0 } = constants
const APPEND = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
const ANEW = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
/** How a file system says that it knows no such thing as waiting for the disk. */
const UNSYNCED: ReadonlySet<string> = new Set(["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"])
/** A connection that brings nothing for so long is as good as cut. */
const SILENT_MS = 30_000

/**
 * Brings the file to `target` and answers its checksum. What is there already is not fetched again. Rejects with a
 * SetupError or the signal's reason; what has come so far is then kept, unless it is wrong or cannot be checked.
 */
export async function download(from: HubFile, target: string, options: DownloadOptions): Promise<string> {
  return holding(`${target}.lock`, options, async () => {
    const there = await hashFile(target)
    if (there !== undefined && (from.sha256 === undefined || there === from.sha256)) return there
    await removeParts(target, partOf(target, from))
    const sha256 = await new Download(from, partOf(target, from), options).run()
    await rename(partOf(target, from), target)
    return sha256
  })
}

/** Named by what it will be, so that the parts of two files never get mixed. */
function partOf(target: string, { sha256 }: HubFile): string {
  return `${target}.${sha256?.slice(0, 12) ?? "unchecked"}.part`
}

/** Parts of what the file was to be at other times. */
async function removeParts(target: string, except: string): Promise<void> {
  const names = await readdir(dirname(target))
  const old = names.filter((name) => name.startsWith(`${basename(target)}.`) && name.endsWith(".part"))
  const paths = old.map((name) => join(dirname(target), name)).filter((path) => path !== except)
  await Promise.all(paths.map((path) => rm(path, { force: true })))
}

class Download {
  private hash = createHash("sha256")
  private doneBytes = 0
  private totalBytes: number | undefined

  constructor(
    private readonly from: HubFile,
    private readonly part: string,
    private readonly options: DownloadOptions,
  ) {
    this.totalBytes = from.sizeBytes
  }

  async run(): Promise<string> {
    await this.takeUp()
    await checkRoom(dirname(this.part), (this.totalBytes ?? 0) - this.doneBytes)
    await this.fetchAll()
    const sha256 = this.hash.digest("hex")
    if (this.from.sha256 === undefined || sha256 === this.from.sha256) return sha256
    await rm(this.part, { force: true })
    const what = `${this.from.url} is not the file it should be: expected sha256 ${this.from.sha256}, got ${sha256}`
    throw new SetupError(
      "CHECKSUM",
      `${what}; it was deleted. Try again, and if it stays so tell the model's publisher`,
    )
  }

  /** Goes on from what an earlier run left. Without a checksum nothing would tell that the two ends fit together. */
  private async takeUp(): Promise<void> {
    const found = await lstat(this.part).catch(() => undefined)
    if (!found) return
    const fits = found.isFile() && found.size <= (this.totalBytes ?? Number.POSITIVE_INFINITY)
    const isUsable = this.from.sha256 !== undefined && fits
    if (!isUsable) return rm(this.part, { force: true })
    await feedFile(this.hash, this.part)
    this.doneBytes = found.size
  }

  private async fetchAll(): Promise<void> {
    let most = MOST_ATTEMPTS.atFirst
    for (let attempt = 1; this.totalBytes === undefined || this.doneBytes < this.totalBytes; attempt++) {
      const before = this.doneBytes
      try {
        await this.fetchRest()
        return
      } catch (error) {
        const code = error instanceof SetupError ? error.code : undefined
        if (code === "NOT_A_MODEL" || code === "CHECKSUM") await rm(this.part, { force: true })
        if (code !== "OFFLINE" && code !== "HUB_FAILED") throw error
        if (this.doneBytes > before) {
          attempt = 1
          most = MOST_ATTEMPTS.later
        }
        if (attempt >= most) throw byHand(error as SetupError, this.from)
        this.options.onRetry?.((error as SetupError).message)
        const { signal } = this.options
        await delay(FIRST_PAUSE_MS * 2 ** (attempt - 1), undefined, signal ? { signal } : {})
      }
    }
  }

  private async fetchRest(): Promise<void> {
    const { env, signal } = this.options
    const headers: Record<string, string> = this.doneBytes > 0 ? { range: `bytes=${this.doneBytes}-` } : {}
    const silent = new AbortController()
    const both = signal ? AbortSignal.any([signal, silent.signal]) : silent.signal
    const response = await ask(this.from.url, { headers }, { env, repository: this.from.repository, signal: both })
    await this.begin(response)
    const file = await open(this.part, this.doneBytes > 0 ? APPEND : ANEW, 0o600).catch(async (cause) => {
      await response.body?.cancel()
      throw await this.unwritten(cause)
    })
    const timer = setTimeout(() => silent.abort(new Error(`nothing came for ${SILENT_MS / 1000} s`)), SILENT_MS)
    try {
      for await (const chunk of response.body ?? []) {
        timer.refresh()
        await this.take(chunk, file)
      }
      // what a disk only finds out now, or never gets to before the power goes, must not be taken for whole
      await file.sync().catch(async (cause) => {
        if (!UNSYNCED.has(systemCode(cause) ?? "")) throw await this.unwritten(cause)
      })
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof SetupError) throw cause
      throw this.broken(silent.signal.aborted ? silent.signal.reason : cause)
    } finally {
      clearTimeout(timer)
      await file.close()
    }
    // Not every runtime reports a body that ends before its time as an error.
    if (this.doneBytes < (this.totalBytes ?? 0)) throw this.broken(new Error("it ended too early"))
  }

  private async unwritten(cause: unknown): Promise<SetupError> {
    const code = systemCode(cause)
    const free = await freeIn(dirname(this.part))
    const wanted = this.totalBytes === undefined ? "more" : `${megabytes(this.totalBytes - this.doneBytes)} more`
    const room = `${wanted} is needed${free === undefined ? "" : `, and ${megabytes(free)} is free`}`
    const isFull = code === "ENOSPC" || code === "EDQUOT"
    const what = isFull ? "the disk is full" : `${this.part} could not be written (${code})`
    const kept = `${megabytes(this.doneBytes)} of the model are kept; run it again to go on`
    return new SetupError("DISK_FULL", `${what}: ${room}; ${kept}`, { cause })
  }

  private broken(cause: unknown): SetupError {
    const why = reasonOf(cause)
    return new SetupError("OFFLINE", `the connection to ${new URL(this.from.url).origin} broke (${why}).`, { cause })
  }

  /** Checks what kind of answer it is, and where in the file it begins. */
  private async begin(response: Response): Promise<void> {
    const length = Number(response.headers.get("content-length")) || undefined
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "")
    const continues = response.status === 206 && Number(range?.[1]) === this.doneBytes
    if (!continues && this.doneBytes > 0) {
      // it has no ranges, or not this one: from the start
      this.hash = createHash("sha256")
      this.doneBytes = 0
    }
    if (response.status === 416) {
      await response.body?.cancel()
      await rm(this.part, { force: true })
      throw new SetupError("HUB_FAILED", `${this.from.url} has no more than was fetched already; beginning anew`)
    }
    const total = continues ? Number(range?.[2]) : length
    if (/^text\/html\b/.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel()
      throw notAModel(this.from.url, "a web page")
    }
    if (total !== undefined && this.from.sizeBytes !== undefined && total !== this.from.sizeBytes) {
      await response.body?.cancel()
      const what = `${this.from.url} is not the file it should be: expected ${this.from.sizeBytes} bytes, got ${total}`
      throw new SetupError("CHECKSUM", `${what}; nothing was kept`)
    }
    this.totalBytes ??= total
  }

  private async take(chunk: Uint8Array, file: FileHandle): Promise<void> {
    const head =
      this.doneBytes < MAGIC.length ? Buffer.from(chunk.subarray(0, MAGIC.length - this.doneBytes)) : undefined
    if (head && !MAGIC.startsWith(head.toString("latin1"), this.doneBytes)) {
      throw notAModel(this.from.url, JSON.stringify(Buffer.from(chunk.subarray(0, 30)).toString("latin1")))
    }
    try {
      await file.writeFile(chunk)
    } catch (cause) {
      throw await this.unwritten(cause)
    }
    this.hash.update(chunk)
    this.doneBytes += chunk.byteLength
    this.options.onProgress?.(this.doneBytes, this.totalBytes)
  }
}

function notAModel(url: string, got: string): SetupError {
  const what = `${url} is no model: expected a file that begins with GGUF, got ${got}`
  return new SetupError("NOT_A_MODEL", `${what}. A proxy or a login page may stand between; nothing was kept`)
}
