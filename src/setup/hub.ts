// Requests to the model hub (huggingface.co, or HF_ENDPOINT): where a file is, its size and its checksum. Follows redirects
// itself instead of leaving them to fetch, because HF_TOKEN must not be sent to the storage that the hub redirects to.

import { basename } from "node:path"
import * as z from "zod/mini"
import { isLoopback } from "../digest/backends/http.ts"
import type { Environment } from "../system/data-folder.ts"
import { SetupError, shortReason } from "./errors.ts"
import { type HubReference, hasQuantisation, isModelPath } from "./models.ts"

export type HubFile = {
  repository: string
  revision: string
  /** its path in the repository */
  file: string
  url: string
  sizeBytes?: number
  /** pinned by the curated list, or reported by the hub */
  sha256?: string
}

const MAX_REDIRECTS = 5
const HEADERS_TIMEOUT_MS = 30_000

function hubOf(env: Environment): string {
  const given = env.HF_ENDPOINT || "https://huggingface.co"
  if (!/^https?:\/\/[^/]/.test(given)) {
    throw new SetupError("BAD_REFERENCE", `HF_ENDPOINT must be an address such as https://huggingface.co, got ${given}`)
  }
  return given.replace(/\/+$/, "")
}

/** The file that a reference names. Needs no request for a listed model. Rejects with a SetupError. */
export async function locate(reference: HubReference, env: Environment, signal?: AbortSignal): Promise<HubFile> {
  const { repository, revision, listed } = reference
  const file = reference.file ?? (await fileOf(reference, env, signal))
  const url = `${hubOf(env)}/${repository}/resolve/${revision}/${file.split("/").map(encodeURIComponent).join("/")}`
  const found = { repository, revision, file, url }
  if (listed) return { ...found, sizeBytes: listed.sizeBytes, sha256: listed.sha256 }
  const head = requestHub(url, { method: "HEAD" }, { env, repository, signal })
  const { headers, ok } = await head.catch((error: unknown) => {
    throw error instanceof SetupError ? withManualFetch(error, found) : error
  })
  // the content-length of a redirect is that of the redirect itself
  const size = Number(headers.get("x-linked-size") ?? (ok ? headers.get("content-length") : 0))
  const tag = /^"?([0-9a-f]{64})"?$/.exec(headers.get("x-linked-etag") ?? "")?.[1]
  return { ...found, ...(size > 0 ? { sizeBytes: size } : {}), ...(tag ? { sha256: tag } : {}) }
}

/** Adds to a network error how to fetch the file by other means. */
export function withManualFetch(error: SetupError, { url, file }: Pick<HubFile, "url" | "file">): SetupError {
  const { code, message, cause } = error
  if (code !== "OFFLINE" && code !== "HUB_FAILED") return error
  const way = `fetch ${url} by other means and run: hudfold model use /path/to/${basename(file)}`
  return new SetupError(code, `${message} Run the command again to resume, or ${way}`, { cause })
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

type HubRequest = { env: Environment; repository: string; signal?: AbortSignal | undefined }

/**
 * One request to the hub. Follows redirects to a file's storage, except for HEAD, whose answer describes the file.
 * Resolves with a response of status 200 to 299, or 416. Rejects with a SetupError; OFFLINE and HUB_FAILED may be retried.
 */
export async function requestHub(url: string, init: RequestInit, request: HubRequest): Promise<Response> {
  const { env, repository, signal } = request
  const hub = new URL(hubOf(env))
  let at = new URL(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const token =
      at.origin === hub.origin && (at.protocol === "https:" || isLoopback(at.hostname)) ? env.HF_TOKEN : undefined
    const headers = new Headers(init.headers)
    // the byte offsets of a compressed response would not be those of the file
    headers.set("accept-encoding", "identity")
    if (token) headers.set("authorization", `Bearer ${token}`)
    const response = await fetchHeaders(at, { ...init, headers, redirect: "manual" }, signal)
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

/** Rejects with OFFLINE if there is no answer in time. The signal also aborts the body. */
async function fetchHeaders(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
  const late = new AbortController()
  const abort = () => late.abort(new Error(`no answer within ${HEADERS_TIMEOUT_MS / 1000} s`))
  const timer = setTimeout(abort, HEADERS_TIMEOUT_MS)
  try {
    return await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal })
  } catch (cause) {
    signal?.throwIfAborted()
    throw unreachable(url, late.signal.aborted ? late.signal.reason : cause)
  } finally {
    clearTimeout(timer)
  }
}

function unreachable(url: URL, cause: unknown): SetupError {
  const why = shortReason(cause)
  const { HTTPS_PROXY, https_proxy } = process.env
  // Node supports proxies from version 24, if enabled
  const proxy =
    (HTTPS_PROXY || https_proxy) && !process.versions.bun && !process.env.NODE_USE_ENV_PROXY
      ? " HTTPS_PROXY is set, but Node ignores it: set NODE_USE_ENV_PROXY=1 (Node 24), or run this with bun."
      : ""
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
