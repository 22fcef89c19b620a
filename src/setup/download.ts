// Model files from the hub (huggingface.co, or HF_ENDPOINT): where a file is, its size and its checksum, and its download to a
// `.part` beside its target, which resumes an earlier one, and is verified and renamed when complete.

import { constants } from "node:fs"
import { type FileHandle, lstat, open, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import * as z from "zod/mini"
import { isLoopback } from "../digest/backends/http.ts"
import { notGguf } from "../engine/gguf.ts"
import { hashFile } from "../engine/installed.ts"
import type { Environment } from "../system/data-folder.ts"
import { byteSize } from "../text/format.ts"
import { SetupError, shortReason, systemCode } from "./errors.ts"
import { checkRoom, freeIn } from "./folder.ts"
import { type HubReference, hasQuantisation, isModelPath } from "./models.ts"

export type HubFile = {
  repository: string
  /** its path in the repository */
  file: string
  url: string
  sizeBytes?: number | undefined
  /** pinned by the curated list, or reported by the hub */
  sha256?: string | undefined
}

const MAX_REDIRECTS = 5
/** A server that sends nothing for this long is given up. */
const PATIENCE_MS = 30_000

function hubOf(env: Environment): string {
  const given = env.HF_ENDPOINT || "https://huggingface.co"
  // Node's fetch takes no address with a user and password, and messages quote addresses
  if (/^https?:\/\/[^@]+$/.test(given) && URL.canParse(given)) return given.replace(/\/+$/, "")
  const what = "HF_ENDPOINT must be an address such as https://huggingface.co, without a user or password"
  throw new SetupError("BAD_REFERENCE", `${what}; HF_TOKEN takes a token`)
}

/** The file that a reference names. Needs no request for a listed model. Rejects with a SetupError. */
export async function locate(reference: HubReference, env: Environment, signal?: AbortSignal): Promise<HubFile> {
  const { repository, revision, listed } = reference
  const addressOf = (file: string) =>
    `${hubOf(env)}/${repository}/resolve/${revision}/${file.split("/").map(encodeURIComponent).join("/")}`
  const named = { url: addressOf("FILE.gguf"), file: "FILE.gguf" }
  const file = reference.file ?? (await orByHand(named, fileOf(reference, env, signal)))
  const found = { repository, file, url: addressOf(file) }
  if (listed) return { ...found, sizeBytes: listed.sizeBytes, sha256: listed.sha256 }
  const { headers, ok } = await askHub(found, env, signal)
  // the content-length of a redirect is that of the redirect itself
  const size = Number(headers.get("x-linked-size") ?? (ok ? headers.get("content-length") : 0))
  const tag = /^"?([0-9a-f]{64})"?$/.exec(headers.get("x-linked-etag") ?? "")?.[1]
  return { ...found, sizeBytes: size > 0 ? size : undefined, sha256: tag }
}

/** The hub's answer about a file, without the file. Rejects with a SetupError. */
export function askHub(file: HubFile, env: Environment, signal?: AbortSignal): Promise<Response> {
  const { url, repository } = file
  return orByHand(file, requestHub(url, { method: "HEAD" }, { env, repository, signal }))
}

/** Says how to fetch the file by other means if the network failed. */
function orByHand<T>({ url, file }: Pick<HubFile, "url" | "file">, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!isNetworkError(error)) throw error
    const way = `fetch ${url} by other means and run: hudfold setup --model /path/to/${basename(file)}`
    const what = `${error.message.replace(/\.?$/, ".")} Run the command again to resume, or ${way}`
    throw new SetupError(error.code, what, { cause: error.cause })
  })
}

function isNetworkError(error: unknown): error is SetupError {
  return error instanceof SetupError && (error.code === "OFFLINE" || error.code === "HUB_FAILED")
}

const treeSchema = z.array(z.looseObject({ type: z.string(), path: z.string() }))

/** The only file of a repository that has the quantisation in its name. */
async function fileOf(
  { repository, revision, quantisation = "" }: HubReference,
  env: Environment,
  signal: AbortSignal | undefined,
): Promise<string> {
  const url = `${hubOf(env)}/api/models/${repository}/tree/${revision}?recursive=true`
  const response = await requestHub(url, {}, { env, repository, signal })
  const tree = treeSchema.safeParse(await response.json().catch(() => undefined))
  if (!tree.success) throw new SetupError("HUB_FAILED", `${url} did not answer with a list of files; try again later`)
  // untrusted names, which become paths below the models folder
  const files = tree.data.map((entry) => entry.path).filter((path) => isModelPath(path) && !/mmproj/i.test(path))
  const [match, ...others] = files.filter((path) => hasQuantisation(path, quantisation))
  if (match && !others.length) return match
  const what = match ? `several files of ${repository} end in` : `no file of ${repository} ends in`
  const there = files.length ? `it has ${files.slice(0, 20).join(", ")}` : "it has no .gguf file"
  throw new SetupError("NOT_FOUND", `${what} ${quantisation}.gguf; ${there}. Name one: hf:${repository}/FILE`)
}

/** `late` is aborted when the server takes too long; the default allows for a short answer. */
type HubRequest = { env: Environment; repository: string; signal?: AbortSignal | undefined; late?: AbortSignal }

/**
 * One request to the hub. Follows redirects itself, since HF_TOKEN must not be sent to a file's storage, which the hub
 * redirects to. Not for HEAD, whose answer describes the file.
 * Resolves with a response of status 200 to 299, or 416. Rejects with a SetupError; OFFLINE and HUB_FAILED may be retried.
 */
async function requestHub(url: string, init: RequestInit, request: HubRequest): Promise<Response> {
  const { env, repository, signal, late = AbortSignal.timeout(PATIENCE_MS) } = request
  const either = signal ? AbortSignal.any([signal, late]) : late
  const hub = new URL(hubOf(env))
  let at = new URL(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const headers = new Headers(init.headers)
    // the byte offsets of a compressed response would not be those of the file
    headers.set("accept-encoding", "identity")
    if (env.HF_TOKEN && at.origin === hub.origin && (at.protocol === "https:" || isLoopback(at.hostname)))
      headers.set("authorization", `Bearer ${env.HF_TOKEN}`)
    const response = await fetch(at, { ...init, headers, redirect: "manual", signal: either }).catch((cause) => {
      signal?.throwIfAborted()
      throw unreachable(at, late.aborted ? new Error(`no answer within ${PATIENCE_MS / 1000} s`) : cause)
    })
    const { status } = response
    const location = response.headers.get("location")
    if (status >= 300 && status < 400 && location) {
      const next = new URL(location, at)
      if (init.method === "HEAD" && next.origin !== at.origin) return response
      await response.body?.cancel()
      if (at.protocol === "https:" && next.protocol !== "https:") {
        const what = `${at.origin} redirects to ${next.origin}, which is not encrypted`
        throw new SetupError("HUB_FAILED", `${what}; not followed`)
      }
      at = next
      continue
    }
    if (response.ok || status === 416) return response
    await response.body?.cancel()
    throw refusal(response, repository, hub, Boolean(env.HF_TOKEN))
  }
  throw new SetupError("HUB_FAILED", `${url} redirects more than ${MAX_REDIRECTS} times; try again later`)
}

function unreachable(url: URL, cause: unknown): SetupError {
  const why = shortReason(cause)
  const { HTTPS_PROXY, https_proxy } = process.env
  // Node supports proxies from version 24, if enabled
  const isUsed = process.versions.bun || process.env.NODE_USE_ENV_PROXY
  const how = isUsed
    ? " HTTPS_PROXY is set: it may be the proxy that does not answer."
    : " HTTPS_PROXY is set, but Node ignores it: set NODE_USE_ENV_PROXY=1 (Node 24), or run this with bun."
  const proxy = HTTPS_PROXY || https_proxy ? how : ""
  return new SetupError("OFFLINE", `${url.origin} could not be reached (${why}); check the network.${proxy}`, { cause })
}

function refusal(response: Response, repository: string, hub: URL, hasToken: boolean): SetupError {
  const { status, headers } = response
  const reason = headers.get("x-error-code") ?? ""
  const page = `${hub.origin}/${repository}`
  if (status === 404 || /^(?:Repo|Entry|Revision)NotFound$/.test(reason)) {
    const what = { RepoNotFound: "such repository, or it is private", RevisionNotFound: "such revision" }[reason]
    const message = `${page} has no ${what ?? "such file"} (status ${status}); look there for its name`
    return new SetupError("NOT_FOUND", message)
  }
  if (status === 401 || status === 403) {
    const token = hasToken ? "HF_TOKEN was refused: its account needs access" : "set HF_TOKEN to your account's token"
    return new SetupError("GATED", `${page} requires that you accept its licence: do so there, and ${token}`)
  }
  return new SetupError("HUB_FAILED", `${response.url || page} answered with status ${status}; try again later`)
}

export type DownloadOptions = {
  env: Environment
  signal?: AbortSignal | undefined
  /** called often; the total is undefined if the server does not report it */
  onProgress?: (doneBytes: number, totalBytes: number | undefined) => void
  onRetry?: (reason: string) => void
}

/** Consecutive attempts without progress before giving up. */
const MAX_ATTEMPTS = 3
const FIRST_RETRY_DELAY_MS = 500
/** Follows no symbolic link. */
const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC, O_NOFOLLOW = 0 } = constants
const WRITE = O_WRONLY | O_CREAT | O_NOFOLLOW
/** Errors of file systems that do not support fsync. */
const NO_SYNC_CODES: ReadonlySet<string> = new Set(["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"])

/**
 * Downloads the file to `target`, unless it is there already, and resolves with its checksum. Rejects with a SetupError
 * or the signal's reason; the part downloaded so far is kept, unless it is wrong or cannot be verified. Not to be called while
 * another process downloads the same file.
 */
export async function download(from: HubFile, target: string, options: DownloadOptions): Promise<string> {
  const { signal } = options
  const there = await hashFile(target, { signal })
  if (there !== undefined && (from.sha256 === undefined || there === from.sha256)) return there
  // named by its checksum, so that parts of different files are never mixed; without one it is not resumed by a later run
  const part = `${target}.${from.sha256?.slice(0, 12) ?? "unchecked"}.part`
  await removeParts(target, from.sha256 === undefined ? undefined : part)
  await checkRoom(dirname(part), (from.sizeBytes ?? 0) - (await sizeOf(part)))
  try {
    await orByHand(from, fetchAll(from, part, options))
    const sha256 = await verify(from, part, signal)
    await rename(part, target)
    return sha256
  } catch (error) {
    const isWrong = error instanceof SetupError && (error.code === "NOT_A_MODEL" || error.code === "CHECKSUM")
    if (isWrong) await rm(part, { force: true })
    throw error
  }
}

/** Removes parts of other versions of the file. */
async function removeParts(target: string, except: string | undefined): Promise<void> {
  const names = await readdir(dirname(target)).catch(() => [])
  const old = names.filter((name) => name.startsWith(`${basename(target)}.`) && name.endsWith(".part"))
  const paths = old.map((name) => join(dirname(target), name)).filter((path) => path !== except)
  await Promise.all(paths.map((path) => rm(path, { force: true })))
}

/** The size of a part, in bytes. Anything but a file at its path is removed. */
async function sizeOf(part: string): Promise<number> {
  const found = await lstat(part).catch(() => undefined)
  if (found && !found.isFile()) await rm(part, { force: true })
  return found?.isFile() ? found.size : 0
}

/** Resolves with the checksum of a complete part. */
async function verify({ url, sha256 }: HubFile, part: string, signal: AbortSignal | undefined): Promise<string> {
  const instead = await notGguf(part)
  if (instead !== undefined) throw notAModel(url, instead)
  const got = (await hashFile(part, { signal })) ?? ""
  if (sha256 === undefined || got === sha256) return got
  const what = `${url} is not the expected file: expected sha256 ${sha256}, got ${got}`
  throw new SetupError("CHECKSUM", `${what}; it was deleted. Try again; if this persists, tell the model's publisher`)
}

async function fetchAll(from: HubFile, part: string, options: DownloadOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await sizeOf(part)
    try {
      return await fetchRest(from, part, options)
    } catch (error) {
      if (!isNetworkError(error)) throw error
      if ((await sizeOf(part)) > before) attempt = 1
      if (attempt >= MAX_ATTEMPTS) throw error
      options.onRetry?.(error.message)
      await delay(FIRST_RETRY_DELAY_MS * 2 ** (attempt - 1), undefined, { signal: options.signal })
    }
  }
}

/** Fetches what the part lacks. */
async function fetchRest(from: HubFile, part: string, { env, signal, onProgress }: DownloadOptions): Promise<void> {
  const { url, repository, sizeBytes } = from
  const kept = await sizeOf(part)
  if (kept === sizeBytes) return
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`no data for ${PATIENCE_MS / 1000} s`)), PATIENCE_MS)
  const init: RequestInit = kept > 0 ? { headers: { range: `bytes=${kept}-` } } : {}
  let file: FileHandle | undefined
  try {
    const response = await requestHub(url, init, { env, repository, signal, late: stalled.signal })
    const { status, headers } = response
    timer.refresh()
    if (status === 416) {
      await rm(part, { force: true })
      throw new SetupError("HUB_FAILED", `${url} is shorter than the part fetched before; starting over`)
    }
    if (/^text\/html\b/.test(headers.get("content-type") ?? "")) throw notAModel(url, "a web page")
    const isRest = status === 206
    const length = isRest ? /\d+$/.exec(headers.get("content-range") ?? "")?.[0] : headers.get("content-length")
    const totalBytes = Number(length) || sizeBytes
    if (sizeBytes && totalBytes && totalBytes !== sizeBytes) throw wrongSize(url, sizeBytes, totalBytes)
    // a server that does not support ranges sends the whole file
    let doneBytes = isRest ? kept : 0
    const onDisk = <T>(work: Promise<T>): Promise<T> =>
      work.catch(async (cause) => {
        throw await writeError(part, doneBytes, totalBytes, cause)
      })
    file = await onDisk(open(part, WRITE | (doneBytes > 0 ? O_APPEND : O_TRUNC), 0o600))
    for await (const chunk of response.body ?? []) {
      timer.refresh()
      // without a content-length the size is known only here
      if (doneBytes + chunk.byteLength > (totalBytes ?? Number.POSITIVE_INFINITY))
        throw wrongSize(url, totalBytes, "more")
      await onDisk(file.writeFile(chunk))
      doneBytes += chunk.byteLength
      onProgress?.(doneBytes, totalBytes)
    }
    // not every runtime reports a truncated body as an error
    if (doneBytes < (totalBytes ?? 0)) throw new Error("it ended too early")
    // reports late write errors, and survives a power failure before the file counts as complete
    await onDisk(
      file.sync().catch((cause) => {
        if (!NO_SYNC_CODES.has(systemCode(cause) ?? "")) throw cause
      }),
    )
  } catch (cause) {
    const why = shortReason(stalled.signal.reason ?? cause)
    // ends the request
    stalled.abort()
    signal?.throwIfAborted()
    if (cause instanceof SetupError) throw cause
    throw new SetupError("OFFLINE", `the connection to ${new URL(url).origin} broke (${why}).`, { cause })
  } finally {
    clearTimeout(timer)
    await file?.close()
  }
}

async function writeError(part: string, doneBytes: number, totalBytes: number | undefined, cause: unknown) {
  const code = systemCode(cause)
  const free = await freeIn(dirname(part))
  const wanted = totalBytes === undefined ? "more" : `${byteSize(totalBytes - doneBytes)} more`
  const room = `${wanted} is needed${free === undefined ? "" : `, and ${byteSize(free)} is free`}`
  const isFull = code === "ENOSPC" || code === "EDQUOT"
  const what = isFull ? "the disk is full" : `${part} could not be written (${code})`
  const kept = `${byteSize(doneBytes)} of the model are kept; run the command again to resume`
  return new SetupError("DISK_FULL", `${what}: ${room}; ${kept}`, { cause })
}

function wrongSize(url: string, expectedBytes: number | undefined, got: number | "more"): SetupError {
  const what = `${url} is not the expected file: expected ${expectedBytes} bytes, got ${got}`
  return new SetupError("CHECKSUM", `${what}; nothing was kept`)
}

function notAModel(url: string, got: string): SetupError {
  const what = `${url} is not a model: expected a file that begins with GGUF, got ${got}`
  return new SetupError("NOT_A_MODEL", `${what}. A proxy or a login page may be in between; nothing was kept`)
}
