// The curated list of models, and how a user names a model: by its name in the list, as a file on the hub, or as a path.
// Every model of the list is pinned by repository, revision, file, size and checksum. The checksums are those the hub
// publishes, and match at least two other projects that pin the same file. Also model files: those fetched into the models
// folder, as `owner/repository/file.gguf`, and the model in use. A user's own files are elsewhere and are never removed.

import { existsSync } from "node:fs"
import { readdir, realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { notGguf } from "../engine/gguf.ts"
import type { ModelInUse, Places } from "../engine/installed.ts"
import { makePrivateFolder, writePrivate } from "../system/private-folder.ts"
import { SetupError, systemCode } from "./errors.ts"

export type ListedModel = {
  name: string
  /** repository on the hub, as `owner/name` */
  repository: string
  revision: string
  file: string
  sizeBytes: number
  sha256: string
  licence: string
  /** what digests 400 tokens of output within about five seconds, which keeps up with an agent */
  needs: "2 CPU cores" | "a desktop CPU" | "a GPU or Apple silicon"
  goodFor: string
}

export const MODELS: readonly ListedModel[] = [
  {
    name: "smollm2-135m",
    repository: "bartowski/SmolLM2-135M-Instruct-GGUF",
    revision: "09816acd5d99df7be770d85ea30822623dab342c",
    file: "SmolLM2-135M-Instruct-Q8_0.gguf",
    sizeBytes: 144_811_360,
    sha256: "5a1395716f7913741cc51d98581b9b1228d80987a9f7d3664106742eb06bba83",
    licence: "Apache-2.0",
    needs: "2 CPU cores",
    goodFor: "the least memory; short and plain sentences",
  },
  {
    name: "gemma-3-270m",
    repository: "ggml-org/gemma-3-270m-it-GGUF",
    revision: "e7647be17ae1108f2f605ed061ca0608b171afff",
    file: "gemma-3-270m-it-Q8_0.gguf",
    sizeBytes: 291_545_600,
    sha256: "0ef57d2c838458a1952664260dcba38e5bdda37494f3af732f06e4add24068e3",
    licence: "Gemma terms of use",
    needs: "2 CPU cores",
    goodFor: "the fastest reader of long outputs on a processor",
  },
  {
    name: "smollm2-360m",
    repository: "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF",
    revision: "593b5a2e04c8f3e4ee880263f93e0bd2901ad47f",
    file: "smollm2-360m-instruct-q8_0.gguf",
    sizeBytes: 386_404_992,
    sha256: "48ab3034d0dd401fbc721eb1df3217902fee7dab9078992d66431f09b7750201",
    licence: "Apache-2.0",
    needs: "a desktop CPU",
    goodFor: "larger than the smallest, under a free licence",
  },
  {
    name: "lfm2.5-350m",
    repository: "LiquidAI/LFM2.5-350M-GGUF",
    revision: "bb7ee58b243e4cede04187e323e760b04f8a0091",
    file: "LFM2.5-350M-Q4_K_M.gguf",
    sizeBytes: 229_312_224,
    sha256: "7e6f72643caafc9a68256686638c4d7916f2cec76d1df478d4c3ddcd95a6aed4",
    licence: "LFM Open License 1.0 (with a revenue limit)",
    needs: "a desktop CPU",
    goodFor: "extraction, in little memory",
  },
  {
    name: "qwen3-0.6b",
    repository: "Qwen/Qwen3-0.6B-GGUF",
    revision: "23749fefcc72300e3a2ad315e1317431b06b590a",
    file: "Qwen3-0.6B-Q8_0.gguf",
    sizeBytes: 639_446_688,
    sha256: "9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
    licence: "Apache-2.0",
    needs: "a desktop CPU",
    goodFor: "code and many languages",
  },
  {
    name: "qwen3-1.7b",
    repository: "Qwen/Qwen3-1.7B-GGUF",
    revision: "90862c4b9d2787eaed51d12237eafdfe7c5f6077",
    file: "Qwen3-1.7B-Q8_0.gguf",
    sizeBytes: 1_834_426_016,
    sha256: "061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a",
    licence: "Apache-2.0",
    needs: "a GPU or Apple silicon",
    goodFor: "the largest of this list",
  },
]

/** What setup installs by default. */
export const DEFAULT_MODEL = "smollm2-135m"

export function listedModel(name: string): ListedModel | undefined {
  return MODELS.find((model) => model.name === name.toLowerCase())
}

export type HubReference = {
  kind: "hub"
  /** `owner/name` */
  repository: string
  revision: string
  /** path of the file in the repository, or the quantisation that names one of its files */
  file?: string | undefined
  quantisation?: string | undefined
  listed?: ListedModel
}

export type ModelReference = HubReference | { kind: "path"; path: string }

const FORMS = "a name of `hudfold model list`, hf:owner/repository:QUANT, hf:owner/repository/file.gguf, or a path"

/** Whether a file's name ends in a quantisation, as `model-Q8_0.gguf` does in `q8_0`. */
export function hasQuantisation(file: string, quantisation: string): boolean {
  return new RegExp(`(?:^|[-._/\\\\])${quantisation.replaceAll(".", "\\.")}\\.gguf$`, "i").test(file)
}

/** Whether a path in a repository names a model file, and stays inside the folder it is joined to. */
export function isModelPath(file: string): boolean {
  return /^(?!\.)[\w.-]+(?:\/(?!\.)[\w.-]+)*\.gguf$/i.test(file)
}

const PART = "[\\w][\\w.-]*"
// a URI as node-llama-cpp and llama.cpp write it, or the URL of the file's page or download
const REPOSITORY = `(?<repository>${PART}/${PART})`
const REVISION = `(?<revision>${PART})`
const URI = new RegExp(
  `^(?:hf|huggingface):${REPOSITORY}(?:/(?<file>[^#:]+)|:(?<quantisation>[\\w.-]+))(?:#${REVISION})?$`,
)
const ADDRESS = new RegExp(`^https?://[^/]+/${REPOSITORY}/(?:resolve|blob)/${REVISION}/(?<file>[^?#]+)(?:[?#].*)?$`)

/** Throws BAD_REFERENCE. Relative paths are resolved against `folder`. */
export function readReference(text: string, folder = process.cwd()): ModelReference {
  const listed = listedModel(text)
  if (listed) {
    const { repository, revision, file } = listed
    return { kind: "hub", repository, revision, file, listed }
  }
  const named = (URI.exec(text) ?? ADDRESS.exec(text))?.groups
  if (named) {
    const { repository = "", file, quantisation, revision = "main" } = named
    if (file !== undefined && !isModelPath(file))
      throw new SetupError("BAD_REFERENCE", `a model is a .gguf file; got ${JSON.stringify(file)} in ${repository}`)
    return { kind: "hub", repository, revision, file, quantisation }
  }
  if (/^[a-z][\w+.-]+:/i.test(text) && !isAbsolute(text))
    throw new SetupError("BAD_REFERENCE", `${JSON.stringify(text)} is not a model; expected ${FORMS}`)
  if (/[/\\]|\.gguf$/i.test(text)) return { kind: "path", path: resolve(folder, text) }
  const names = MODELS.map((model) => model.name).join(", ")
  const what = `no model is called ${JSON.stringify(text)}`
  throw new SetupError("BAD_REFERENCE", `${what}; expected ${FORMS}. Names: ${names}`)
}

/** Where a file of the hub is stored. */
export function fetchedPath(places: Places, { repository, file }: Pick<ListedModel, "repository" | "file">): string {
  return join(places.models, ...repository.split("/"), ...file.split("/"))
}

export function hubModelName({ repository, file }: Pick<ListedModel, "repository" | "file">): string {
  const listed = MODELS.find((model) => model.repository === repository && model.file === file)
  return listed?.name ?? `hf:${repository}/${file}`
}

/** All completely fetched models, sorted by name: the name in the curated list, or the URI. */
export async function fetchedModels(places: Places) {
  // a link may lead to a drive that is not mounted
  const paths = (await modelFiles(places, /\.gguf$/i)).filter((path) => existsSync(path))
  const models = paths.map(async (path) => {
    const [owner = "", repository = "", ...file] = relative(places.models, path).split(sep)
    const name = hubModelName({ repository: `${owner}/${repository}`, file: file.join("/") })
    return { name, path, sizeBytes: (await stat(path)).size }
  })
  return (await Promise.all(models)).sort((a, b) => a.name.localeCompare(b.name))
}

/** Finds a fetched model by its name, file name, path, or URI. Rejects with BAD_REFERENCE if several have it. */
export async function findFetched(places: Places, text: string) {
  const models = await fetchedModels(places)
  const named = models.filter(
    ({ name, path }) => [name, path, basename(path)].includes(text) || name === text.toLowerCase(),
  )
  const found = named.length === 0 && text.includes(":") ? inRepository(places, models, text) : named
  if (found.length < 2) return found[0]
  const names = found.map((model) => model.name).join(", ")
  throw new SetupError("BAD_REFERENCE", `${JSON.stringify(text)} may be any of ${names}; name one of them`)
}

function inRepository<T extends { path: string }>(places: Places, models: readonly T[], uri: string): T[] {
  const reference = readReference(uri)
  if (reference.kind === "path") return []
  const { repository, file, quantisation = "" } = reference
  const folder = join(places.models, ...repository.split("/"), sep)
  return models.filter(({ path }) =>
    file === undefined
      ? path.startsWith(folder) && hasQuantisation(path, quantisation)
      : path === fetchedPath(places, { repository, file }),
  )
}

/** Everything that downloads have created: models and parts. What lies behind a link may be the user's own. */
export async function fetchedFiles(places: Places): Promise<string[]> {
  const paths = await modelFiles(places, /\.gguf(?:\.\w+\.part)?$/i)
  const data = dirname(places.models)
  const realData = await realpath(data).catch(() => data)
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => "")))
  return paths.filter((path, at) => real[at] === join(realData, relative(data, path)))
}

async function modelFiles(places: Places, ending: RegExp): Promise<string[]> {
  const names = await readdir(places.models, { recursive: true }).catch(() => [])
  // at least owner/repository/file: setup creates nothing above that
  const created = names.filter((name) => ending.test(name) && name.split(sep).length >= 3)
  return created.map((name) => join(places.models, name))
}

export function setModelInUse(places: Places, record: ModelInUse): void {
  makePrivateFolder(dirname(places.modelRecord))
  writePrivate(places.modelRecord, `${JSON.stringify(record, null, 2)}\n`)
}

/** Checks how the file begins; the engine checks the rest. Resolves with the size in bytes. Rejects with NOT_A_MODEL. */
export async function checkModelFile(path: string): Promise<number> {
  const got = await notGguf(path).catch((error: unknown) => {
    const code = systemCode(error)
    return code === "ENOENT" ? "no such file" : `a file that cannot be read (${code})`
  })
  if (got === undefined) return (await stat(path)).size
  throw new SetupError("NOT_A_MODEL", `${path} is not a model: expected a GGUF file of version 2 or 3, got ${got}`)
}
