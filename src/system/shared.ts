// Resources that several users in this process share, one for each key. The first user starts it, the last one to
// release it stops it.

export type Share<T, User extends object> = ReturnType<ReturnType<typeof createShared<T, User>>["acquire"]>

/** `stop` is called once for every resource that was started. */
export function createShared<T, User extends object>(stop: (value: T) => Promise<void>) {
  const running = new Map<string, { value: T; users: Set<User> }>()
  const stopping = new Map<string, Promise<unknown>>()

  async function stopLast(key: string, value: T): Promise<void> {
    running.delete(key)
    const stopped = Promise.all([stop(value), stopping.get(key)]).finally(() => {
      if (stopping.get(key) === stopped) stopping.delete(key)
    })
    stopping.set(key, stopped)
    await stopped
  }

  return {
    /**
     * Adds `user` to the users of the resource under `key`. If there is none, `start` makes it: `users` is the live set
     * of its users, and `stopped` resolves once earlier resources of this key are gone, if any are still stopping.
     */
    acquire(key: string, user: User, start: (users: ReadonlySet<User>, stopped: Promise<unknown> | undefined) => T) {
      let resource = running.get(key)
      if (!resource) {
        const users = new Set<User>()
        resource = { value: start(users, stopping.get(key)), users }
        running.set(key, resource)
      }
      const { value, users } = resource
      users.add(user)
      return {
        value,
        /** Gives up this user's share; the last user waits until the resource has stopped. Later calls do nothing. */
        async release(): Promise<void> {
          if (users.delete(user) && users.size === 0) await stopLast(key, value)
        },
      }
    },
  }
}
