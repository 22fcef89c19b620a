// Secrets by where they stand rather than by a name of theirs: authorization, cookies, statements, lines of password files.

import { isJumbled } from "./random.ts"
import type { Find } from "./span.ts"
import { isName, takeFrom } from "./value.ts"

/** What follows an authorization's scheme. */
const SCHEME =
  /\b(?:bearer|basic|negotiate|apikey|token(?=[ \t]+[\w.+/=~-]{16}))[ \t]+(?!realm=)((?:[\w.+/=~:-]|%[0-9a-f]{2}){6,})/dgi
const AUTHORIZATION =
  /\b(?:proxy-)?authorization["']?\]?[ \t]*[:=,][ \t]*["'`]?(?:(?:bearer|basic|digest|negotiate|token|apikey|bot|splunk|key|sso-key|aws4-hmac-sha256)[ \t]+)?(?!(?:bearer|basic|digest|negotiate)\b)([^\s"'`,;)\]}[<>$]{6,}(?:[, ]+\w+="?[^\s"'`]+"?)*)/dgi
/** A header with its scheme is no prose: what follows is taken, but a single word of letters. */
const HEADER =
  /\bauthorization["']?\]?[ \t]*[:=][ \t]*["'`]?(?:bearer|basic|token|bot|apikey)[ \t]+((?=[\w.+/=~:-]*[-.+/=~:\d]|\w{16})[\w.+/=~:-]{8,})/dgi
/** Of a digest what was made with the password: all else was said in the open. */
const DIGEST = /\bdigest[ \t]+username=[^\n]{0,400}?\bresponse=\\?"?([0-9a-f]{32,64})/dgi
const COOKIE = /\b(?:set-)?cookie2?["']?[ \t]*[:=,][ \t]*\\?["'`]?((?=[^\s=;"'`]{1,100}=)[^\r\n"'`\\]{4,8000})/dgi
const MASK = /::add-mask::(\S{1,1000})/dg
/** host:port:database:user:password, a line of PostgreSQL's password file. */
const PGPASS =
  /(?<![^\s"'])(?:[\w*-]+(?:\.[\w-]+)*):(?:\d{4,5}|\*):[^\s:\d][^\s:]{0,60}:[^\s:\d][^\s:]{0,60}:([^\s"']{3,200})(?![^\s"'])/dgm
/** machine, login, password, a line of curl's and git's password file. */
const NETRC = /\b(?:machine[ \t]+\S{1,200}|default)\s{1,20}login[ \t]+\S{1,200}\s{1,20}password[ \t]+(\S{1,200})/dg

/** SQL's statements, and a cmdlet of PowerShell. Without quotes "identified by" is prose, but in capitals. */
const STATEMENT =
  /\b(?:identified[ \t]+(?:(?:with|via)[ \t]+\S{1,60}[ \t]+)?(?:by|as)(?:[ \t]+password)?|ConvertTo-SecureString(?:[ \t]+-String)?)[ \t]+\\{0,8}["']([^"'\\\n]{3,200})/dgi
const STATEMENT_BARE = /\bIDENTIFIED[ \t]+BY[ \t]+([^\s"'\\;]{3,200})/dg
/** A line of a browser's or curl's cookie file. */
const COOKIE_FILE = /\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,100}\t(\S{8,4000})/dg
/** The words that a wallet is made from again. */
const MNEMONIC =
  /\b(?:mnemonic|seed(?:[ _-]?phrase)?|recovery[ _-]phrase)["']?[ \t]*(?:[:=]|is)[ \t]*\\{0,8}["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})/dgi
/** The four by four letters that Google gives a program. */
const APP_PASSWORD = /pass\w{0,5}["']?[ \t]*[:=][ \t]*\\{0,8}["']?([a-z]{4}(?: [a-z]{4}){3})\b/dgi
/** Secrets that calls to sign with have in their second place. */
const SIGNED =
  /\b(?:jwt\.(?:sign|verify|encode|decode)|createHmac|hmac\.new)\([^,\n"']{0,80}(?:["'][^"'\n]{1,80}["'])?,[ \t]*(?:key=)?b?\\{0,8}["']([^"'\\\n]{6,200})\\{0,8}["']/dg

/** Each behind what is in all that it finds, in the quickest form: most texts are looked at no closer. */
const PATTERNS: readonly (readonly [telling: RegExp, pattern: RegExp])[] = [
  [/:(?:\d{4,5}|\*):/, PGPASS],
  [/authorization/i, HEADER],
  [/cookie/i, COOKIE],
  [/digest/i, DIGEST],
  [/add-mask/, MASK],
  [/login/, NETRC],
  [/identified|SecureString/i, STATEMENT],
  [/IDENTIFIED/, STATEMENT_BARE],
  [/\t(?:TRUE|FALSE)\t/, COOKIE_FILE],
  [/mnemonic|seed|recovery/i, MNEMONIC],
  [/pass/i, APP_PASSWORD],
  [/jwt\.|hmac/i, SIGNED],
]

const WITH_SCHEMES: typeof PATTERNS = [
  [/authorization/i, AUTHORIZATION],
  [/bearer|basic|negotiate|apikey|token/i, SCHEME],
]

export const findHeaders: Find = (text, report) => {
  const take = takeFrom(text, report)
  for (const [telling, pattern] of PATTERNS)
    if (telling.test(text)) for (const { indices } of text.matchAll(pattern)) take(indices?.[1])
  // in prose and in programs these are followed by words, by names of files and by versions
  for (const [telling, pattern] of WITH_SCHEMES)
    if (telling.test(text))
      for (const { indices, 1: value = "" } of text.matchAll(pattern))
        if ((/\d|[=+~]/.test(value) || isJumbled(value)) && (value.length >= 12 || !isName(value))) take(indices?.[1])
}
