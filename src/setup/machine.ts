// The properties of this machine that matter for the choice of an engine and a model. Reads files and asks the operating
// system; loads no driver, and starts no program except vm_stat and sysctl on macOS.

import { execFile } from "node:child_process"
import { readdir } from "node:fs/promises"
import { availableParallelism, cpus, freemem, totalmem } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { type Environment, homeFolder } from "../system/data-folder.ts"

export type Machine = Awaited<ReturnType<typeof probeMachine>>

/** GPU support, detected by the files that the engine itself looks for. Not probed on macOS, which always has Metal. */
export type Gpu = Awaited<ReturnType<typeof probeLinux>>

export async function probeMachine(env: Environment = process.env) {
  const { platform, arch } = process
  return {
    platform,
    /** of this process */
    arch: arch as string,
    /** whether this process is emulated on an ARM processor */
    translated: await isTranslated(platform, env),
    ...(platform === "linux" ? { libc: libc() } : {}),
    cpu: cpus()[0]?.model.trim().replace(/\s+/g, " ") || "unknown processor",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    /** without swapping */
    availableBytes: await availableBytes(platform),
    gpu: platform === "win32" ? await probeWindows(env) : platform === "linux" ? await probeLinux(env) : NO_GPU,
  }
}

const NO_GPU: Gpu = { nvidia: false, cuda: false, vulkan: false, drivers: [], devices: [] }

/** `root` is the root of the file system, for tests. */
export async function probeLinux(env: Environment, root = "/") {
  const at = (path: string) => join(root, path)
  const folders = [
    ...[env.PATH, env.LD_LIBRARY_PATH, env.CUDA_PATH].flatMap((value) => (value ?? "").split(delimiter)),
    ...["/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].map(at),
  ]
  for (const name of await filesIn(at("/usr/local"))) {
    const targets = at(`/usr/local/${name}/targets`)
    if (/^cuda(?:-|$)/.test(name)) folders.push(...(await filesIn(targets)).map((one) => join(targets, one, "lib")))
  }
  const libraries = await filesInAll(folders)
  const has = (name: string) => libraries.some((file) => file === name || file.startsWith(`${name}.`))
  const home = env.XDG_DATA_HOME ?? join(env.HOME ?? homeFolder(), ".local/share")
  const shared = ["/usr/share", "/usr/local/share", "/etc", "/run/opengl-driver/share"].map(at)
  const icds = [...shared, home].map((folder) => join(folder, "vulkan/icd.d"))
  const named = (env.VK_DRIVER_FILES ?? env.VK_ICD_FILENAMES ?? "").split(delimiter)
  const drivers = named.some(Boolean) ? named : await filesInAll(icds)
  return {
    /** whether NVIDIA's driver is installed */
    nvidia: has("libcuda.so") && has("libnvidia-ml.so"),
    /** whether the three libraries of the CUDA runtime are installed */
    cuda: has("libcudart.so") && has("libcublas.so") && has("libcublasLt.so"),
    /** whether the Vulkan loader is installed */
    vulkan: has("libvulkan.so"),
    /** Vulkan drivers, such as `radeon`; Linux only */
    drivers: [...new Set(drivers.flatMap((file) => /([^/]+?)(?:_icd)?(?:\.\w+)?\.json$/.exec(file)?.[1] ?? []))].sort(),
    /** device nodes, such as `renderD128`; Linux only */
    devices: [
      ...(await filesIn(at("/dev/dri"))).filter((name) => name.startsWith("renderD")),
      ...(await filesIn(at("/dev"))).filter((name) => /^nvidia\d+$|^dxg$/.test(name)),
    ].sort(),
  }
}

async function probeWindows(env: Environment): Promise<Gpu> {
  const system = await filesIn(join(env.SystemRoot ?? env.windir ?? "C:\\Windows", "System32"))
  const folders = [
    ...(env.PATH ?? env.Path ?? "").split(delimiter),
    ...(env.CUDA_PATH ? [join(env.CUDA_PATH, "bin")] : []),
  ]
  const files = [...system, ...(await filesInAll(folders))].map((name) => name.toLowerCase())
  const has = (pattern: RegExp) => files.some((name) => pattern.test(name))
  return {
    ...NO_GPU,
    nvidia: has(/^nvml\.dll$/),
    cuda: has(/^cudart64_\d+\.dll$/) && has(/^cublas64_\d+\.dll$/) && has(/^cublaslt64_\d+\.dll$/),
    vulkan: has(/^vulkan-1\.dll$/),
  }
}

function libc(): { name: "glibc"; version: string } | { name: "musl" } {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined
  const version = report?.header?.glibcVersionRuntime
  return version ? { name: "glibc", version } : { name: "musl" }
}

async function isTranslated(platform: NodeJS.Platform, env: Environment): Promise<boolean> {
  if (process.arch !== "x64") return false
  if (platform === "darwin")
    return (await outputOf("/usr/sbin/sysctl", ["-in", "sysctl.proc_translated"])).trim() === "1"
  return platform === "win32" && /^ARM/i.test(env.PROCESSOR_IDENTIFIER ?? "")
}

async function availableBytes(platform: NodeJS.Platform): Promise<number> {
  // macOS reports only untouched memory as free, but most memory in use is reclaimable cache
  if (platform === "darwin") return availableOf(await outputOf("/usr/bin/vm_stat", [])) ?? freemem()
  // respects a container's limit; exists from Node 20.13
  return (process as { availableMemory?: () => number }).availableMemory?.() ?? freemem()
}

/** Available bytes, from the output of macOS's vm_stat. */
export function availableOf(vmStat: string): number | undefined {
  const page = Number(/page size of (\d+) bytes/.exec(vmStat)?.[1])
  const pages = ["free", "inactive", "speculative", "purgeable"].map((kind) =>
    Number(new RegExp(`^Pages ${kind}:\\s+(\\d+)`, "m").exec(vmStat)?.[1] ?? 0),
  )
  const bytes = page * pages.reduce((total, count) => total + count, 0)
  return bytes > 0 ? bytes : undefined
}

async function outputOf(command: string, args: string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { timeout: 5_000 }).catch(() => ({ stdout: "" }))).stdout
}

async function filesIn(folder: string): Promise<string[]> {
  return folder === "" ? [] : readdir(folder).catch(() => [])
}

async function filesInAll(folders: readonly string[]): Promise<string[]> {
  return (await Promise.all(folders.map(filesIn))).flat()
}
