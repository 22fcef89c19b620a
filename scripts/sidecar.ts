// Installs the engine's packages into `sidecar/node_modules` with the code of `hudfold setup`, in the CPU variant for this
// machine, so that types and the sidecar's tests work in a clean clone. `bun scripts/sidecar.ts [TARGET]`

import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { isStamped } from "../src/setup/engine.ts"
import { withLock } from "../src/setup/lock.ts"
import { probeMachine } from "../src/setup/machine.ts"
import { chooseVariants, pin } from "../src/setup/packages.ts"
import { installPackages } from "./packages.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const target = resolve(process.argv[2] ?? join(root, "sidecar", "node_modules"))
const { variants } = chooseVariants(await probeMachine(), "off")
const started = performance.now()
const onWait = () => void process.stdout.write("another process is installing the engine; waiting for it\n")
const pinned = pin(variants)
const state = (await isStamped(target, pinned))
  ? "present"
  : await withLock(`${target}.lock`, { onWait }, () => installPackages(pinned, target))
if (state === "installed") {
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`installed ${variants.join(", ")} into ${target} in ${seconds} s\n`)
}
