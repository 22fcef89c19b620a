// What `hudfold setup` says of a machine, a plan and a trial: a line each.

import type { Places } from "../engine/installed.ts"
import { megabytes } from "../setup/folder.ts"
import type { Machine } from "../setup/machine.ts"
import type { ModelPlan, Plan } from "../setup/plan.ts"
import type { Trial } from "../setup/try-out.ts"

export function describePlan({ machine, engine, model, missing }: Plan, places: Places): string[] {
  const size = `about ${megabytes(engine.fetchedBytes)} to fetch, ${megabytes(engine.installedBytes)} on disk`
  const what = `engine: node-llama-cpp ${engine.version} with ${engine.variants.join(" and ")} (${engine.why})`
  const lines = [
    `machine: ${describeMachine(machine)}`,
    `${what}, ${engine.isThere ? "already installed" : size}, in ${places.sidecar}`,
  ]
  if (missing)
    lines.push(`warning: the model in use, ${missing.name}, is not in ${missing.path} any more, or is another file`)
  if (!model) return lines
  lines.push(`model: ${describeModel(model)}`)
  const bytes =
    model.kind === "kept" ? model.record.sizeBytes : model.kind === "file" ? model.sizeBytes : model.file.sizeBytes
  const needs = (bytes ?? 0) * 1.2 + 300e6
  if (bytes !== undefined && needs > machine.availableBytes) {
    const free = megabytes(machine.availableBytes)
    lines.push(`warning: this model needs about ${megabytes(needs)} of memory, and ${free} is free: it may be refused`)
  }
  return lines
}

function describeModel(model: ModelPlan): string {
  switch (model.kind) {
    case "kept":
      return `${model.record.name} is in use and stays, ${megabytes(model.record.sizeBytes)}, in ${model.record.path}`
    case "file":
      return `${model.name}, ${megabytes(model.sizeBytes)}, your file ${model.path}`
    case "hub": {
      const size = model.file.sizeBytes === undefined ? "size unknown" : megabytes(model.file.sizeBytes)
      const licence = model.licence ? `licence ${model.licence}` : "see its page for the licence"
      const there = model.isThere ? "already fetched" : `from ${model.file.url}`
      return `${model.name}, ${size}, ${licence}, ${there}, in ${model.path}`
    }
    default:
      throw new Error(`no such plan: ${model satisfies never}`)
  }
}

function describeMachine({ platform, arch, libc, cpu, cores, memoryBytes, availableBytes, gpu }: Machine): string {
  const system = [platform, arch, libc && (libc.name === "glibc" ? `glibc ${libc.version}` : libc.name)].filter(Boolean)
  const memory = `${megabytes(availableBytes)} of ${megabytes(memoryBytes)} memory free`
  return [system.join(" "), `${cpu}, ${cores} cores`, memory, ...(gpu.nvidia ? [gpu.nvidia] : [])].join("; ")
}

export function describeTrial({ capabilities, promptTokens, outputTokens, elapsedMs, gist, words }: Trial): string[] {
  const { gpu, devices, fallback, loadMs, threads } = capabilities
  const device = gpu === "off" ? `the processor (threads: ${threads})` : `${gpu} (${devices.join(", ")})`
  const speeds = `reads ${Math.round(capabilities.prefillTokensPerSecond)} and writes ${Math.round(capabilities.decodeTokensPerSecond)} tokens/s`
  return [
    `it runs on ${device}, loads in ${seconds(loadMs)}, ${speeds}`,
    ...(fallback ? [`not on a better device: ${fallback}`] : []),
    `${promptTokens} tokens read and ${outputTokens} written in ${seconds(elapsedMs)}: ${gist ?? "what it wrote, the sample does not bear out"}`,
    words,
  ]
}

/** Whom one has to believe that a fetched file is the right one. */
export function describeTrust(model: ModelPlan): string[] {
  if (model.kind !== "hub" || model.isThere) return []
  if (model.licence) return ["model: its checksum is the one of our list"]
  if (model.file.sha256) return ["model: its checksum is the one the hub gives"]
  return ["model: the hub gives no checksum, nothing was checked"]
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
