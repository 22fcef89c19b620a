// SQLite of the runtime: Bun's, or Node's own where there is no Bun. `bun:sqlite` is imported dynamically and only here, so
// that everything loads under either.

import type { Database } from "bun:sqlite"
import type { DatabaseSync, StatementSync } from "node:sqlite"

export type SqliteDatabase = Database
export type SqliteClass = typeof Database

type NodeSqlite = { DatabaseSync: typeof DatabaseSync; StatementSync: typeof StatementSync }

/** Node's module if it can return rows as arrays, as from 22.16 on. Loading it warns that it is experimental. */
function nodeSqlite(): NodeSqlite | undefined {
  const { emitWarning } = process
  // a warning would be drawn over the host's screen
  process.emitWarning = () => {}
  try {
    const module = process.getBuiltinModule?.("node:sqlite") as NodeSqlite | undefined
    return module && "setReturnArrays" in module.StatementSync.prototype ? module : undefined
  } catch {
    return
  } finally {
    process.emitWarning = emitWarning
  }
}

export function hasSqlite(): boolean {
  return process.versions.bun !== undefined || nodeSqlite() !== undefined
}

/** Bun's class, or one like it; undefined when the runtime has none. */
export async function findSqlite(): Promise<SqliteClass | undefined> {
  if (process.versions.bun) return (await import("bun:sqlite")).Database
  const node = nodeSqlite()
  return node && likeBun(node)
}

/** Node's SQLite with the part of Bun's interface that this project uses. */
export function likeBun({ DatabaseSync }: Pick<NodeSqlite, "DatabaseSync">): SqliteClass {
  class NodeDatabase {
    private readonly database: DatabaseSync
    private readonly queries = new Map<string, ReturnType<typeof statementOf>>()

    constructor(path: string, { readonly = false }: { readonly?: boolean } = {}) {
      this.database = new DatabaseSync(path, { readOnly: readonly })
    }

    exec(sql: string): void {
      this.database.exec(sql)
    }

    /** The statement is kept for the next call. */
    query(sql: string) {
      const query = this.queries.get(sql) ?? statementOf(this.database.prepare(sql))
      this.queries.set(sql, query)
      return query
    }

    transaction<T>(act: () => T) {
      const run = (kind: string) => (): T => {
        this.database.exec(`BEGIN ${kind}`)
        try {
          const done = act()
          this.database.exec("COMMIT")
          return done
        } catch (cause) {
          // some errors have ended the transaction already
          if (this.database.isTransaction) this.database.exec("ROLLBACK")
          throw cause
        }
      }
      return Object.assign(run("DEFERRED"), { immediate: run("IMMEDIATE") })
    }

    close(): void {
      this.queries.clear()
      if (this.database.isOpen) this.database.close()
    }

    readonly [Symbol.dispose] = () => this.close()
  }
  return NodeDatabase as unknown as SqliteClass
}

function statementOf(statement: StatementSync) {
  type Values = Parameters<StatementSync["all"]>
  const rows = (arrays: boolean) => {
    statement.setReturnArrays(arrays)
    return statement
  }
  return {
    all: (...values: Values) => rows(false).all(...values),
    get: (...values: Values) => rows(false).get(...values) ?? null,
    values: (...values: Values) => rows(true).all(...values),
    run: (...values: Values) => rows(false).run(...values),
  }
}
