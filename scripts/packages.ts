// Installs the engine's packages with the code of `hudfold setup`, for this repository's own sidecar folder.

import { join } from "node:path"
import { buildPackages, type EngineOptions, type EngineState, inStagingFolder, isStamped } from "../src/setup/engine.ts"
import { replaceFolder } from "../src/setup/folder.ts"
import type { Pinned } from "../src/setup/packages.ts"

/** Installs the pinned packages as `target`, a node_modules. Rejects with a SetupError or the signal's reason. */
export async function installPackages(
  pinned: Pinned,
  target: string,
  options: EngineOptions = {},
): Promise<EngineState> {
  if (await isStamped(target, pinned)) return "present"
  return inStagingFolder(target, async (staging) => {
    await buildPackages(pinned, staging, options)
    await replaceFolder(join(staging, "node_modules"), target)
  })
}
