// Secrets that addresses carry: passwords before the host, and hooks whose path is the secret. What stands in a query is
// found by its name, as any assigned value.

import { isRandom } from "./random.ts"
import { type Find, MARK } from "./span.ts"
import { isPlaceholder } from "./value.ts"

/** The password may hold what it should not unescaped; it ends at the last @ before the path. */
const PASSWORD = /:\/\/([^\s:/@?#"'<>`[\]]{0,200}):([^\s/"'<>`]{1,300})@/dg
/** The same with a slash in it, where it is no port and the path of an address. */
const SLASHED = /:\/\/([^\s:/@?#"'<>`[\]]{1,200}):(?!\d{1,5}\/)([^\s"'<>`]{1,400})@[\w.-]+(?=[:/?\s"'`]|$)/dg
/** As drivers of Go have it, with no `//`. */
const DRIVER = /([\w.-]{1,100}):([^\s/"'<>`]{1,300})@(?:tcp|unix)\(/dg
/** A token in the user's place. */
const USER = /:\/\/([^\s:/@?#"'<>`[\]]{10,300})(?::[^\s/@"'<>`]{0,40})?@/dg
/** Hooks that anybody may call who knows the address. */
const HOOKS =
  /hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/([\w/-]{8,200})|discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d{5,25}\/([\w-]{8,200})|\.webhook\.office\.com\/(?:webhookb2\/)?([\w@/-]{20,300})|hooks\.zapier\.com\/hooks\/catch\/([\w/-]{8,100})|api\.telegram\.org\/(?:file\/)?bot(\d+:[\w-]{20,60})|maker\.ifttt\.com\/trigger\/[\w-]{1,80}\/with\/key\/([\w-]{8,80})/dgi

export const findUrls: Find = (text, report) => {
  if (!text.includes("://") && !/hooks?[./]|webhook|telegram|@(?:tcp|unix)\(/i.test(text)) return
  for (const pattern of [PASSWORD, SLASHED, DRIVER])
    for (const { indices, 2: password = "" } of text.matchAll(pattern)) {
      const [from, to] = indices?.[2] ?? [0, 0]
      if (password !== MARK && !isPlaceholder(password)) report(from, to)
    }
  for (const { indices, 1: user = "" } of text.matchAll(USER)) {
    const [from, to] = indices?.[1] ?? [0, 0]
    if (isRandom(user)) report(from, to)
  }
  for (const { indices } of text.matchAll(HOOKS)) {
    const span = indices?.slice(1).find((one) => one !== undefined)
    if (span) report(...span)
  }
}
