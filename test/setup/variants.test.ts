// Which packages are installed on each kind of machine, and how a machine is probed.

import { describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { GpuChoice } from "../../src/engine/wire/messages.ts"
import { availableOf, type Gpu, type Machine, probeLinux, probeMachine } from "../../src/setup/machine.ts"
import { chooseVariants, sizesOf } from "../../src/setup/packages.ts"
import { temporaryFolder } from "../store/support.ts"

const NONE: Gpu = { nvidia: false, cuda: false, vulkan: false, drivers: [], devices: [] }
const RADEON: Gpu = { ...NONE, vulkan: true, drivers: ["lvp", "radeon"], devices: ["renderD128"] }
const GEFORCE: Gpu = { ...NONE, nvidia: true, devices: ["nvidia0"] }

type Over = Partial<Omit<Machine, "gpu">> & { gpu?: Gpu }

function machineOf({ gpu = NONE, ...over }: Over = {}): Machine {
  const glibc = { libc: { name: "glibc", version: "2.36" } } as const
  return {
    platform: "linux",
    arch: "x64",
    translated: false,
    ...(over.platform === undefined || over.platform === "linux" ? glibc : {}),
    cpu: "A processor",
    cores: 8,
    memoryBytes: 16e9,
    availableBytes: 8e9,
    gpu,
    ...over,
  }
}

describe("the packages for", () => {
  const rows: { what: string; machine?: Over; gpu?: GpuChoice; variants: string[]; why?: RegExp }[] = [
    { what: "Linux without a GPU", variants: ["linux-x64"], why: /no GPU found/ },
    {
      what: "Linux on ARM",
      machine: { arch: "arm64", gpu: RADEON },
      variants: ["linux-arm64"],
      why: /no engine for GPUs/,
    },
    {
      what: "NVIDIA with CUDA's libraries",
      machine: { gpu: { ...GEFORCE, cuda: true } },
      variants: ["linux-x64", "linux-x64-cuda"],
      why: /NVIDIA with CUDA/,
    },
    {
      what: "NVIDIA's driver alone, as on most laptops",
      machine: { gpu: { ...GEFORCE, vulkan: true, drivers: ["nvidia"] } },
      variants: ["linux-x64", "linux-x64-vulkan"],
    },
    {
      what: "NVIDIA's driver without CUDA or Vulkan",
      machine: { gpu: GEFORCE },
      variants: ["linux-x64"],
      why: /NVIDIA, but neither/,
    },
    {
      what: "a Radeon",
      machine: { gpu: RADEON },
      variants: ["linux-x64", "linux-x64-vulkan"],
      why: /Vulkan \(radeon\)/,
    },
    {
      what: "drivers installed on a server without a GPU",
      machine: { gpu: { ...RADEON, devices: [] } },
      variants: ["linux-x64"],
      why: /no GPU device/,
    },
    {
      what: "a software driver",
      machine: { gpu: { ...RADEON, drivers: ["lvp"] } },
      variants: ["linux-x64"],
      why: /only a software driver/,
    },
    { what: "a Radeon, if no GPU is requested", machine: { gpu: RADEON }, gpu: "off", variants: ["linux-x64"] },
    {
      what: "a software driver, if Vulkan is requested",
      machine: { gpu: { ...NONE, vulkan: true, drivers: ["lvp"] } },
      gpu: "vulkan",
      variants: ["linux-x64", "linux-x64-vulkan"],
      why: /^requested$/,
    },
    {
      what: "no driver, if CUDA is requested",
      gpu: "cuda",
      variants: ["linux-x64", "linux-x64-cuda"],
      why: /are missing: it will not be used/,
    },
    { what: "Apple silicon", machine: { platform: "darwin", arch: "arm64" }, variants: ["mac-arm64-metal"] },
    {
      what: "Apple silicon without its GPU",
      machine: { platform: "darwin", arch: "arm64" },
      gpu: "off",
      variants: ["mac-arm64-metal"],
    },
    {
      what: "an emulated Intel program on Apple silicon",
      machine: { platform: "darwin", arch: "x64", translated: true },
      variants: ["mac-x64", "mac-arm64-metal"],
      why: /Metal/,
    },
    { what: "an Intel Mac", machine: { platform: "darwin", arch: "x64" }, variants: ["mac-x64"], why: /no engine/ },
    { what: "Windows without a GPU's driver", machine: { platform: "win32" }, variants: ["win-x64"] },
    {
      what: "Windows with a GPU's driver",
      machine: { platform: "win32", gpu: { ...NONE, vulkan: true } },
      variants: ["win-x64", "win-x64-vulkan"],
    },
    {
      what: "Windows with CUDA",
      machine: { platform: "win32", gpu: { ...NONE, nvidia: true, cuda: true, vulkan: true } },
      variants: ["win-x64", "win-x64-cuda"],
    },
    { what: "Windows on ARM", machine: { platform: "win32", arch: "arm64" }, variants: ["win-arm64"] },
  ]
  for (const { what, machine, gpu, variants, why } of rows) {
    test(what, () => {
      const choice = chooseVariants(machineOf(machine), gpu)
      expect(choice.variants).toEqual(variants)
      expect(choice.why).toMatch(why ?? /./)
      // a dry run needs the size of each
      for (const variant of variants) {
        expect(sizesOf([variant]).fetchedBytes).toBeGreaterThan(sizesOf([]).fetchedBytes)
      }
    })
  }
})

describe("there is no engine for", () => {
  const rows: { what: string; machine: Over; gpu?: GpuChoice; says: RegExp }[] = [
    {
      what: "musl",
      machine: { libc: { name: "musl" } },
      says: /for musl \(Alpine and the like\); expected a Linux with glibc/,
    },
    {
      what: "an old glibc",
      machine: { libc: { name: "glibc", version: "2.31" } },
      says: /for glibc 2.31; expected 2.34/,
    },
    { what: "FreeBSD", machine: { platform: "freebsd" }, says: /for freebsd on x64; expected one of linux-x64,/ },
    {
      what: "Metal on Linux",
      machine: {},
      gpu: "metal",
      says: /with Metal for linux; expected auto, cuda, vulkan or off/,
    },
    {
      what: "Metal on an Intel Mac",
      machine: { platform: "darwin" },
      gpu: "metal",
      says: /Intel's Macs; expected auto or off/,
    },
    { what: "CUDA on macOS", machine: { platform: "darwin", arch: "arm64" }, gpu: "cuda", says: /with cuda for macOS/ },
    { what: "Vulkan on ARM", machine: { arch: "arm64" }, gpu: "vulkan", says: /for GPUs of linux on arm64 \(vulkan\)/ },
  ]
  for (const { what, machine, gpu, says } of rows) {
    test(what, () => expect(() => chooseVariants(machineOf(machine), gpu)).toThrow(says))
  }
})

describe("a GPU on Linux is detected by files:", () => {
  const CUDA = ["usr/lib/x86_64-linux-gnu/libcuda.so.1", "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"]
  const RUNTIME = "usr/local/cuda-12.4/targets/x86_64-linux/lib"
  const VULKAN = ["usr/lib/x86_64-linux-gnu/libvulkan.so.1", "usr/share/vulkan/icd.d/radeon_icd.x86_64.json"]
  const rows: { what: string; files: string[]; finds: Partial<Gpu> }[] = [
    { what: "nothing", files: [], finds: NONE },
    { what: "NVIDIA's driver", files: CUDA, finds: { nvidia: true, cuda: false } },
    {
      what: "CUDA's libraries, in the toolkit's folder",
      files: [
        ...CUDA,
        ...["libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12"].map((name) => `${RUNTIME}/${name}`),
      ],
      finds: { nvidia: true, cuda: true },
    },
    {
      what: "only two of CUDA's libraries",
      files: [`${RUNTIME}/libcudart.so`, `${RUNTIME}/libcublasLt.so`],
      finds: { cuda: false },
    },
    {
      what: "a Radeon with Mesa's drivers",
      files: [...VULKAN, "usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "dev/dri/renderD128", "dev/dri/card0"],
      finds: { vulkan: true, drivers: ["lvp", "radeon"], devices: ["renderD128"] },
    },
    { what: "WSL", files: ["dev/dxg"], finds: { devices: ["dxg"] } },
  ]
  for (const { what, files, finds } of rows) {
    test(what, async () => {
      using root = temporaryFolder()
      for (const file of files) {
        mkdirSync(dirname(join(root.path, file)), { recursive: true })
        writeFileSync(join(root.path, file), "")
      }
      expect(await probeLinux({ HOME: root.path }, root.path)).toMatchObject(finds)
    })
  }

  test("the drivers that VK_DRIVER_FILES names are the only ones", async () => {
    using root = temporaryFolder()
    const env = { HOME: root.path, VK_DRIVER_FILES: "/opt/x/lvp_icd.x86_64.json" }
    expect((await probeLinux(env, root.path)).drivers).toEqual(["lvp"])
  })
})

test("available memory on macOS includes reclaimable memory", () => {
  const said = `Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            300000.
Pages inactive:                          250000.
Pages speculative:                         5000.
Pages purgeable:                           2000.
`
  expect(availableOf(said)).toBe(16384 * 267_000)
  expect(availableOf("")).toBeUndefined()
})

test("this machine can be probed and is supported", async () => {
  const machine = await probeMachine()
  expect(machine.cores).toBeGreaterThan(0)
  expect(machine.availableBytes).toBeGreaterThan(0)
  expect(machine.availableBytes).toBeLessThanOrEqual(machine.memoryBytes)
  expect(chooseVariants(machine, "off").variants).not.toEqual([])
})
