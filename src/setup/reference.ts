// What people write for a model: a name of the list, a file on the hub, or a path. Only reads the text.

import { isAbsolute, resolve } from "node:path"
import { SetupError } from "./errors.ts"
import { type ListedModel, listedModel, MODELS } from "./models.ts"

export type HubReference = {
  kind: "hub"
  /** `owner/name` */
  repository: string
  revision: string
  /** path of the file in the repository, or the quantisation that names one of its files */
  file?: string
  quantisation?: string
  listed?: ListedModel
}

export type ModelReference = HubReference | { kind: "path"; path: string }

const FORMS = "a name of `hudfold model list`, hf:owner/repository:QUANT, hf:owner/repository/file.gguf, or a path"

/** Whether a file's name ends in a quantisation, as `model-Q8_0.gguf` in `q8_0`. */
export function hasQuantisation(file: string, quantisation: string): boolean {
  const ending = new RegExp(`(?:^|[-._/\\\\])${quantisation.replaceAll(".", "\\.")}\\.gguf$`, "i")
  return ending.test(file)
}

/** Whether a path in a repository is one of a model's file, and none that leads out of a folder it is put into. */
export function isModelPath(file: string): boolean {
  return /^(?!\.)[\w.-]+(?:\/(?!\.)[\w.-]+)*\.gguf$/i.test(file)
}

const PART = "[\\w][\\w.-]*"
// a URI as node-llama-cpp and llama.cpp write it; or the address of the file's page or download
const URI = new RegExp(`^(?:hf|huggingface):(${PART}/${PART})(?:/([^#:]+)|:([\\w.-]+))(?:#(${PART}))?$`)
const ADDRESS = new RegExp(`^https?://[^/]+/(${PART}/${PART})/(?:resolve|blob)/(${PART})/([^?#]+)(?:[?#].*)?$`)

/** Throws BAD_REFERENCE. `folder` is what a relative path is relative to. */
export function readReference(text: string, folder = process.cwd()): ModelReference {
  const listed = listedModel(text)
  if (listed) {
    const { repository, revision, file } = listed
    return { kind: "hub", repository, revision, file, listed }
  }
  const uri = URI.exec(text)
  const address = ADDRESS.exec(text)
  const repository = uri?.[1] ?? address?.[1]
  if (repository) {
    const file = uri?.[2] ?? address?.[3]
    const quantisation = uri?.[3]
    if (file !== undefined && !isModelPath(file)) {
      throw new SetupError("BAD_REFERENCE", `a model is a .gguf file; got ${JSON.stringify(file)} in ${repository}`)
    }
    const revision = uri?.[4] ?? address?.[2] ?? "main"
    return { kind: "hub", repository, revision, ...(file ? { file } : {}), ...(quantisation ? { quantisation } : {}) }
  }
  if (/^[a-z][\w+.-]+:/i.test(text) && !isAbsolute(text)) {
    throw new SetupError("BAD_REFERENCE", `${JSON.stringify(text)} is no model; expected ${FORMS}`)
  }
  if (/[/\\]|\.gguf$/i.test(text)) return { kind: "path", path: resolve(folder, text) }
  const names = MODELS.map((model) => model.name).join(", ")
  throw new SetupError(
    "BAD_REFERENCE",
    `no model is called ${JSON.stringify(text)}; expected ${FORMS}. Names: ${names}`,
  )
}
