// The launch spec, and what the real runtimes do with it.

import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { launchSpec, type RuntimeChoice } from "../../src/engine/launch.ts"
import { opencode, temporaryFolder } from "../store/support.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

const BUN = { BUN_BE_BUN: "1", BUN_ENABLE_CRASH_REPORTING: "0", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" }

type Over = Partial<NonNullable<Parameters<typeof launchSpec>[3]>> & {
  runtime?: RuntimeChoice
  main?: string
  env?: Record<string, string | undefined>
  onPath?: string[]
}

function launch({ runtime = "auto", main = "/data/sidecar/main.js", env = {}, onPath = [], ...over }: Over) {
  return launchSpec(runtime, main, env, {
    execPath: "/opt/opencode/bin/opencode",
    isBun: true,
    platform: "linux",
    find: (name) => (onPath.includes(name) ? `/usr/bin/${name}` : undefined),
    ...over,
  })
}

const onBun = (command: string) => ({
  command,
  args: ["--no-install", "/data/sidecar/main.js"],
  env: BUN,
  cwd: "/data/sidecar",
})
const onNode = { command: "/usr/bin/node", args: ["/data/sidecar/main.js"], env: {}, cwd: "/data/sidecar" }

test.each([
  ["auto in OpenCode is OpenCode's own binary", {}, onBun("/opt/opencode/bin/opencode")],
  ["auto on Node is bun", { isBun: false, onPath: ["node", "bun", "opencode"] }, onBun("/usr/bin/bun")],
  ["auto on Node without bun is node", { isBun: false, onPath: ["node", "opencode"] }, onNode],
  ["auto with only OpenCode on PATH is opencode", { isBun: false, onPath: ["opencode"] }, onBun("/usr/bin/opencode")],
  [
    "opencode in OpenCode is itself",
    { runtime: "opencode", onPath: ["opencode"] },
    onBun("/opt/opencode/bin/opencode"),
  ],
  [
    "opencode in a plain Bun is the one on PATH",
    { runtime: "opencode", execPath: "/opt/bun", onPath: ["opencode"] },
    onBun("/usr/bin/opencode"),
  ],
  ["bun is the one on PATH", { runtime: "bun", onPath: ["bun"] }, onBun("/usr/bin/bun")],
  ["node is the one on PATH", { runtime: "node", onPath: ["node"] }, onNode],
] satisfies [string, Parameters<typeof launch>[0], object][])("%s", (_, input, spec) => {
  expect(launch(input)).toEqual(spec)
})

test.each(["opencode", "bun", "node"] as const)("%s that is not on PATH is reported as missing", (runtime) => {
  const reason = `the option digest.runtime is "${runtime}", and no ${runtime} is on PATH; put one there or use "auto"`
  expect(launch({ runtime, isBun: false })).toEqual({ reason })
})

test("only allowed environment variables are passed on", () => {
  const allowed = {
    PATH: "/bin",
    HOME: "/home/dev",
    LC_ALL: "C",
    LD_LIBRARY_PATH: "/run/opengl-driver/lib",
    CUDA_VISIBLE_DEVICES: "0",
    GGML_VK_VISIBLE_DEVICES: "0",
    VK_DRIVER_FILES: "/etc/vulkan/icd.json",
    HSA_OVERRIDE_GFX_VERSION: "10.3.0",
    XDG_CACHE_HOME: "/cache",
  }
  const secret = "x"
  const others = {
    ANTHROPIC_API_KEY: secret,
    AWS_SESSION_TOKEN: secret,
    HF_TOKEN: secret,
    HTTPS_PROXY: "http://user:password@proxy",
    NODE_OPTIONS: "--require /evil.js",
    BUN_OPTIONS: "--preload /evil.js",
    LD_PRELOAD: "/evil.so",
    NODE_LLAMA_CPP_GPU: "cuda",
    OPENCODE_CONFIG_CONTENT: "{}",
    // Windows only
    TEMP: "/temp",
    path: "/other",
  }
  expect(launch({ env: { ...allowed, ...others, UNSET: undefined } })).toMatchObject({ env: { ...allowed, ...BUN } })
  expect(Object.keys((launch({ env: { ...allowed, ...others } }) as { env: object }).env)).toHaveLength(12)
})

test("on Windows names are case-insensitive, and variables that programs need are passed on", () => {
  const env = { Path: "C:\\bin", SystemRoot: "C:\\Windows", TEMP: "C:\\Temp", USERPROFILE: "C:\\Users\\dev" }
  expect(launch({ platform: "win32", env: { ...env, OPENAI_API_KEY: "x" } })).toMatchObject({ env: { ...env, ...BUN } })
})

const node = Bun.which("node") ?? "node"
test.each([
  ["bun", process.execPath, true],
  ["opencode", opencode, true],
  ["node", node, false],
] as const)("%s reads no settings of a project or a home folder, and installs nothing", (_, command, isBun) => {
  using home = temporaryFolder()
  const sidecar = join(home.path, "sidecar")
  const project = join(home.path, "project")
  for (const folder of [sidecar, project]) mkdirSync(folder)
  for (const folder of [home.path, project]) {
    writeFileSync(join(folder, "evil.js"), 'process.stdout.write("preloaded ")\n')
    for (const name of ["bunfig.toml", ".bunfig.toml"])
      writeFileSync(join(folder, name), `preload = ["${join(folder, "evil.js")}"]\n`)
    writeFileSync(join(folder, ".env"), "FROM_PROJECT=yes\n")
  }
  writeFileSync(join(sidecar, "package.json"), '{ "type": "module" }')
  const find = 'await import("left-pad").catch(() => "missing")'
  const main = `process.stdout.write([${find}, process.env.FROM_PROJECT ?? "unset"].join())\n`
  writeFileSync(join(sidecar, "main.js"), main)
  const spec = launch({
    ...(isBun ? { execPath: command } : { runtime: "node", find: () => command }),
    main: join(sidecar, "main.js"),
    env: { ...process.env, HOME: home.path },
  })
  if ("reason" in spec) throw new Error(spec.reason)
  const ran = Bun.spawnSync([spec.command, ...spec.args], { cwd: spec.cwd, env: { ...spec.env, PWD: project } })
  expect([ran.stdout.toString(), ran.stderr.toString()]).toEqual(["missing,unset", ""])
})
