// Where an OpenAI-compatible server is: whether that is this machine, and the paths below its base URL.

import { BackendError } from "./backend.ts"

export type Address = {
  /** whether it can only be this machine */
  local: boolean
  /** `chat/completions` and `models` below the base URL */
  chat: URL
  models: URL
}

/**
 * Reads `digest.openai.url`. An address is local by its literal alone: `localhost`, 127.0.0.0/8 and ::1, over http. Any
 * other name counts as remote, whatever it resolves to now. Without a path, `/v1` is meant. Throws a `BackendError` OFF.
 */
export function readAddress(text: string, allowRemote: boolean): Address {
  const off = (what: string) => new BackendError("OFF", `digest.openai.url: ${what}`)
  const base = URL.canParse(text) ? new URL(text) : undefined
  if (!base || (base.protocol !== "http:" && base.protocol !== "https:"))
    throw off("expected the http or https URL of a server, as http://127.0.0.1:11434/v1")
  if (base.username || base.password) throw off("holds a user or password; put the key into digest.openai.apiKey")
  const isHere = isLoopback(base.hostname)
  // requests over https are fetch's, and fetch takes them to a proxy, whatever they are addressed to
  const local = isHere && base.protocol === "http:"
  if (base.hostname === "0.0.0.0" || base.hostname === "[::]")
    throw off(`${base.hostname} is an address to listen on; to reach a server on this machine write 127.0.0.1`)
  if (isHere && !local && !allowRemote)
    throw off(
      `https goes over a proxy where one is set, to this machine too; write http://${base.host}, or set digest.openai.allowRemote if that is meant`,
    )
  if (!local && !allowRemote)
    throw off(
      `${base.hostname} is not this machine's own address (localhost, 127.0.0.1, [::1]), and tool outputs would be sent there; set digest.openai.allowRemote if that is meant`,
    )
  const path = base.pathname === "/" ? "/v1" : base.pathname.replace(/\/+$/, "")
  // set and not resolved: a path that begins with two slashes would be another host
  const below = (name: string) => Object.assign(new URL(base), { pathname: `${path}/${name}`, search: "", hash: "" })
  return { local, chat: below("chat/completions"), models: below("models") }
}

/** `hostname` as URL has it: lower case, IPv4 in four decimal parts, IPv6 shortest and in brackets. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
