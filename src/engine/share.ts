// One sidecar for all sessions and directories of this process that want the same one, ended by the last who uses it.

import { createSidecar, type Sidecar, type SidecarConfig } from "./sidecar.ts"

type User = { paused: boolean; onChange: (() => void) | undefined }
type Shared = { sidecar: Sidecar; users: Set<User> }

const sidecars = new Map<string, Shared>()
/** Sidecars being ended; until they are gone they hold the model and the lease. */
const leaving = new Map<string, Promise<void>>()

/** The sidecar of this configuration, with `pause`, `unload` and `close` meant for this one user of it. */
export function shareSidecar(config: SidecarConfig): Sidecar {
  const { spec, load, idleMs } = config
  // the environment is the process's own
  const key = JSON.stringify([spec.command, spec.args, load, idleMs])
  const shared = sidecars.get(key) ?? begin(key, config)
  const { sidecar, users } = shared
  const user: User = { paused: false, onChange: config.onChange }
  users.add(user)
  const pause = (paused: boolean) => {
    user.paused = paused
    sidecar.pause([...users].some((one) => one.paused))
  }
  return {
    get state() {
      return sidecar.state
    },
    get capabilities() {
      return sidecar.capabilities
    },
    write: sidecar.write,
    pause,
    // the others may be in the middle of their work; when they are not, idleness ends it soon
    async unload() {
      if (users.size === 1) await sidecar.unload()
    },
    async close() {
      if (!users.delete(user)) return
      pause(false)
      if (users.size > 0) return
      sidecars.delete(key)
      const left = sidecar.close()
      leaving.set(key, left)
      await left
      if (leaving.get(key) === left) leaving.delete(key)
    },
  }
}

function begin(key: string, config: SidecarConfig): Shared {
  const after = leaving.get(key)
  const users = new Set<User>()
  const onChange = () => {
    for (const user of users) user.onChange?.()
  }
  const shared = { sidecar: createSidecar({ ...config, onChange, ...(after ? { after } : {}) }), users }
  sidecars.set(key, shared)
  return shared
}
