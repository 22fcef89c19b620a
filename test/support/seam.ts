// Counts the plugin's operations on the outside world and makes the nth fail, once or from then on. Only the outside is wrapped,
// SQLite's driver or the host's client; the plugin's code runs unchanged.

import { Database } from "bun:sqlite"

export type Fault = {
  /** 1-based */
  at: number
  /** from the nth on, until the seam is mended */
  stays: boolean
  /** Throws, or answers in place of the world. */
  fail(): unknown
}

export type Seam = {
  /** For the wrapped world: counts the operation and does it, or fails it when it is its turn. */
  pass<T>(operation: string, act?: () => T): T
  /** Counts from 1 again, with a fault or without. */
  begin(fault?: Fault): void
  /** Nothing fails any more, nothing is counted. */
  mend(): void
  readonly passed: readonly string[]
  /** how often something failed */
  readonly failed: number
}

/** `onFirst` is called right before the first failure. */
export function createSeam(onFirst: () => void = () => {}): Seam {
  let fault: Fault | undefined
  let passed: string[] = []
  let isOpen = false
  let failed = 0
  return {
    pass<T>(operation: string, act: () => T = () => undefined as T): T {
      if (!isOpen) return act()
      passed.push(operation)
      if (!fault || (fault.stays ? passed.length < fault.at : passed.length !== fault.at)) return act()
      if (failed++ === 0) {
        isOpen = false
        onFirst()
        isOpen = true
      }
      return fault.fail() as T
    },
    begin(next) {
      fault = next
      passed = []
      failed = 0
      isOpen = true
    },
    mend() {
      isOpen = false
    },
    get passed() {
      return passed
    },
    get failed() {
      return failed
    },
  }
}

/** Every statement of every database of this process passes the seam; answers how to take that back. */
export function wrapSqlite(seam: Seam): () => void {
  const driver = Database.prototype
  const { exec, query, transaction } = driver
  const wrapped = new WeakSet<object>()
  driver.exec = function (this: Database, sql, ...bindings) {
    seam.pass(named(sql))
    return exec.call(this, sql, ...bindings)
  }
  driver.query = function (this: Database, sql: string) {
    const statement = query.call(this, sql)
    if (wrapped.has(statement)) return statement
    wrapped.add(statement)
    for (const name of ["run", "get", "all", "values"] as const) {
      const act = statement[name].bind(statement) as (...bindings: unknown[]) => unknown
      Object.assign(statement, {
        [name]: (...bindings: unknown[]) => {
          seam.pass(named(sql))
          return act(...bindings)
        },
      })
    }
    return statement
  } as typeof query
  // the driver's own BEGIN and COMMIT go another way; only the immediate ones are used
  driver.transaction = function (this: Database, act: (...args: unknown[]) => unknown) {
    const whole = transaction.call(this, (...args: unknown[]) => {
      const done = act(...args)
      seam.pass("commit")
      return done
    })
    return {
      immediate: (...args: unknown[]) => {
        seam.pass("begin immediate")
        const done = whole.immediate(...args)
        // a commit that took effect, and is told of as one that failed
        seam.pass("committed")
        return done
      },
    }
  } as unknown as typeof transaction
  return () => Object.assign(driver, { exec, query, transaction })
}

/** Every method of every namespace of a client passes the seam; `fail` stands in for its answer. */
export function wrapClient<T extends object>(client: T, seam: Seam): T {
  const wrapIn = (name: string, methods: object) =>
    Object.fromEntries(
      Object.entries(methods).map(([method, call]) => [
        method,
        (...args: unknown[]) => seam.pass(`${name}.${method}`, () => call(...args)),
      ]),
    )
  return Object.fromEntries(Object.entries(client).map(([name, methods]) => [name, wrapIn(name, methods)])) as T
}

/** The statement in a few words, for the name of a case. */
function named(sql: string): string {
  return sql
    .replace(/["\s]+/g, " ")
    .trim()
    .slice(0, 40)
    .trim()
}
