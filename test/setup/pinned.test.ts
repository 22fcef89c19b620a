// The pinned packages and models, and the ways to name a model.

import { describe, expect, test } from "bun:test"
import manifest from "../../sidecar/package.json" with { type: "json" }
import lock from "../../sidecar/package-lock.json" with { type: "json" }
import { SetupError } from "../../src/setup/errors.ts"
import { MODELS, readReference } from "../../src/setup/models.ts"
import { ENGINE, engineVersion, pin, variantPackage } from "../../src/setup/packages.ts"

type Entry = { version?: string; integrity?: string; optional?: boolean; dependencies?: Record<string, string> }
const entriesOf = (text: string) => (JSON.parse(text) as { packages: Record<string, Entry> }).packages
const shipped = lock.packages as Record<string, Entry>

describe("the lock pins, with a checksum and in the engine's own version,", () => {
  const variants = [
    ...["linux-x64", "linux-x64-vulkan", "linux-x64-cuda", "linux-arm64"],
    ...["mac-arm64-metal", "mac-x64", "win-x64", "win-x64-vulkan", "win-x64-cuda", "win-arm64"],
  ]
  for (const variant of variants) {
    test(variantPackage(variant), () => {
      const entry = shipped[`node_modules/${variantPackage(variant)}`]
      expect(entry?.version).toBe(engineVersion)
      expect(entry?.integrity).toMatch(/^sha512-/)
    })
  }
})

test("every package that is installed has a checksum", () => {
  const without = Object.entries(shipped).filter(
    ([path, entry]) => path !== "" && !entry.integrity?.startsWith("sha512-"),
  )
  expect(without).toEqual([])
})

test("a chosen variant becomes a direct dependency, and the others stay optional", () => {
  const pinned = pin(["linux-x64"])
  const packages = entriesOf(pinned.lock)
  const direct = { [ENGINE]: engineVersion, "@node-llama-cpp/linux-x64": engineVersion }
  expect((JSON.parse(pinned.manifest) as Entry).dependencies).toEqual(direct)
  expect(packages[""]?.dependencies).toEqual(direct)
  expect(packages["node_modules/@node-llama-cpp/linux-x64"]?.optional).toBeUndefined()
  expect(packages["node_modules/@node-llama-cpp/linux-x64-cuda"]?.optional).toBe(true)
  const unchanged = (packages: Record<string, Entry>) =>
    Object.entries(packages).filter(([path]) => path !== "" && !path.endsWith("/linux-x64"))
  expect(unchanged(packages)).toEqual(unchanged(shipped))
})

test("the stamp differs by variant and is the same each time", () => {
  expect(pin(["linux-x64"]).stamp).toBe(pin(["linux-x64"]).stamp)
  expect(pin(["linux-x64"]).stamp).not.toBe(pin(["linux-x64", "linux-x64-vulkan"]).stamp)
})

test("a variant without a checksum is refused", () => {
  const packages = { ...shipped, "node_modules/@node-llama-cpp/linux-x64": { version: engineVersion } }
  expect(() => pin(["linux-x64"], manifest, { ...lock, packages })).toThrow("the lock has no @node-llama-cpp/linux-x64")
  expect(() => pin(["amiga-m68k"])).toThrow("the lock has no @node-llama-cpp/amiga-m68k")
})

test("every model of the list is pinned to a revision and a checksum, and has a licence", () => {
  for (const model of MODELS) {
    expect(model.revision).toMatch(/^[0-9a-f]{40}$/)
    expect(model.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(model.file).toMatch(/\.gguf$/)
    expect(model.sizeBytes).toBeGreaterThan(50e6)
    expect(model.licence).not.toBe("")
  }
  expect(new Set(MODELS.map((model) => model.name)).size).toBe(MODELS.length)
})

describe("a model may be written as", () => {
  const hub = (file: string, revision = "main") => ({ kind: "hub", repository: "owner/repo.GGUF", revision, file })
  const rows: [text: string, expected: object][] = [
    ["SmolLM2-135M", { kind: "hub", listed: MODELS[0], revision: MODELS[0]?.revision, file: MODELS[0]?.file }],
    ["hf:owner/repo.GGUF/a-Q8_0.gguf", hub("a-Q8_0.gguf")],
    ["hf:owner/repo.GGUF/sub/a.gguf#v1.2", hub("sub/a.gguf", "v1.2")],
    ["hf:owner/repo:Q4_K_M", { kind: "hub", repository: "owner/repo", quantisation: "Q4_K_M", revision: "main" }],
    ["huggingface:owner/repo:Q8_0", { kind: "hub", quantisation: "Q8_0" }],
    ["https://huggingface.co/owner/repo.GGUF/resolve/main/a.gguf?download=true", hub("a.gguf")],
    ["https://huggingface.co/owner/repo.GGUF/blob/0123abc/a.gguf", hub("a.gguf", "0123abc")],
    ["./a.gguf", { kind: "path", path: "/here/a.gguf" }],
    ["a.GGUF", { kind: "path", path: "/here/a.GGUF" }],
    ["/models/a", { kind: "path", path: "/models/a" }],
  ]
  for (const [text, expected] of rows) {
    test(text, () => expect(readReference(text, "/here")).toMatchObject(expected))
  }
})

describe("and not as", () => {
  const rows: [text: string, says: string][] = [
    ["smollm3", 'no model is called "smollm3"; expected a name of `hudfold model list`'],
    ["", "no model is called"],
    ["hf:owner", '"hf:owner" is not a model; expected'],
    ["hf:../../etc:Q8_0", "is not a model"],
    ["hf:owner/repo/../../a.gguf", "a model is a .gguf file"],
    ["hf:owner/repo/README.md", 'a model is a .gguf file; got "README.md" in owner/repo'],
    ["https://huggingface.co/owner/repo/resolve/main/..%2f..%2fa.gguf", "a model is a .gguf file"],
    ["ftp://host/a.gguf", "is not a model"],
  ]
  for (const [text, says] of rows) {
    test(JSON.stringify(text), () => {
      expect(() => readReference(text, "/here")).toThrow(SetupError)
      expect(() => readReference(text, "/here")).toThrow(says)
    })
  }
})
