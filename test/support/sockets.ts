// Which sockets a process of Linux listens on, as the kernel has it: TCP, UDP that is bound, and named unix sockets.

import { readdirSync, readFileSync, readlinkSync } from "node:fs"

const LISTEN = "0A"

/** As `tcp 4096`, by the port, or `unix /run/it`, by the name. A process that has ended meanwhile listens on nothing. */
export function listening(pid: number): string[] {
  try {
    return listeningNow(pid)
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return []
    throw error
  }
}

function listeningNow(pid: number): string[] {
  const own = new Set(socketsOf(pid))
  const rows = (name: string) => readFileSync(`/proc/${pid}/net/${name}`, "utf8").trim().split("\n").slice(1)
  const inet = ["tcp", "tcp6", "udp", "udp6"].flatMap((name) =>
    rows(name).flatMap((row) => {
      const [, local = "", remote = "", state, , , , , , inode = ""] = row.trim().split(/\s+/)
      // a UDP socket that is connected answers nobody else
      const waits = name.startsWith("tcp") ? state === LISTEN : /^0+:0000$/.test(remote)
      return own.has(inode) && waits ? [`${name} ${Number.parseInt(local.split(":")[1] ?? "", 16)}`] : []
    }),
  )
  const unix = rows("unix").flatMap((row) => {
    // flag 10000: it accepts connections
    const [, , , flags = "", , , inode = "", path] = row.trim().split(/\s+/)
    return own.has(inode) && flags === "00010000" ? [`unix ${path ?? "unnamed"}`] : []
  })
  return [...inet, ...unix]
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      // closed meanwhile
      return []
    }
  })
}

/** The process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const parents = readdirSync("/proc").flatMap((name): [number, number][] => {
    if (!/^\d+$/.test(name)) return []
    try {
      // the name of the program, in parentheses, may hold anything
      const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? []
      return [[Number(name), Number(parent)]]
    } catch {
      return []
    }
  })
  const family = [pid]
  for (let at = 0; at < family.length; at++) {
    family.push(...parents.filter(([, parent]) => parent === family[at]).map(([child]) => child))
  }
  return family
}
