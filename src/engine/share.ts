// One sidecar for all sessions and directories of this process whose configuration is the same.

import { createShared } from "../system/shared.ts"
import { createSidecar, type Sidecar, type SidecarConfig } from "./sidecar.ts"

type User = { paused: boolean; onChange: (() => void) | undefined }

const sidecars = createShared<Sidecar, User>((sidecar) => sidecar.close())

/**
 * The sidecar of this configuration. It is paused while any of its users pauses it, and the last of them closes it. Its
 * successor waits until it is gone, because until then it holds the model and the lease.
 */
export function shareSidecar(config: SidecarConfig): Sidecar {
  const { spec, load, idleMs } = config
  // the environment is not part of the key: it is the same for the whole process
  const key = JSON.stringify([spec.command, spec.args, load, idleMs])
  const user: User = { paused: false, onChange: config.onChange }
  const share = sidecars.acquire(key, user, (users, after) => {
    const onChange = () => {
      for (const { onChange } of users) onChange?.()
    }
    return createSidecar({ ...config, onChange, ...(after ? { after } : {}) })
  })
  const sidecar = share.value
  const pause = (paused: boolean) => {
    user.paused = paused
    sidecar.pause([...share.users].some((one) => one.paused))
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
    close() {
      pause(false)
      return share.release()
    },
  }
}
