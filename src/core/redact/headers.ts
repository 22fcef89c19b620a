// Secrets by where they stand in a request or a command rather than by a name of theirs: authorization, cookies, and the
// flags of programs that take a password behind one letter.

import { type Find, MARK } from "./span.ts"
import { isName, isPlaceholder, valueAt } from "./value.ts"

/** What follows an authorization's scheme. */
const SCHEME =
  /\b(?:bearer|basic|digest|negotiate|apikey|token(?=[ \t]+[\w.+/=~-]{16}))[ \t]+((?:[\w.+/=~:-]|%[0-9a-f]{2}){6,})/dgi
const AUTHORIZATION =
  /\b(?:proxy-)?authorization["']?\]?[ \t]*[:=,][ \t]*["'`]?(?:(?:bearer|basic|digest|negotiate|token|apikey|bot|splunk|key|sso-key|aws4-hmac-sha256)[ \t]+)?(?!(?:bearer|basic|digest|negotiate)\b)([^\s"'`,;)\]}[<>$]{6,}(?:[, ]+\w+="?[^\s"'`]+"?)*)/dgi
const COOKIE = /\b(?:set-)?cookie2?["']?[ \t]*[:=,][ \t]*\\?["'`]?((?=[^\s=;"'`]{1,100}=)[^\r\n"'`\\]{4,8000})/dgi
/** -u of curl and its like, with a colon between user and password. */
const USER = /[ \t](?:-u|-U|--user|--proxy-user)[ \t=]*["']?[^\s:"']{0,100}:((?!\d{1,5}(?:\s|$))[^\s"']{1,200})/dg
/** Programs that take a password behind a letter, and what stands before it. */
const LETTERS: readonly (readonly [program: RegExp, flag: RegExp])[] = [
  [/\b(?:mysql\w*|mariadb[\w-]*)\b/, /[ \t]-p(?=\S{2})/g],
  [
    /\b(?:sshpass|mongo\w*|(?:docker|podman|helm|nerdctl|skopeo|az|cf)\b[^\n]{0,60}\blogin)\b/,
    /[ \t]-p[ \t]*(?=[^\s:=-])/g,
  ],
  [/\b(?:redis-cli|keydb-cli)\b/, /[ \t]-a[ \t]+/g],
  [/\bldap\w+\b/, /[ \t]-w[ \t]*/g],
  [/\b(?:zip|unzip|7z[az]?|rar|unrar)\b/, /[ \t]-[pP][ \t]*(?=\S{4})/g],
  [/\b(?:openssl|keytool)\b/, /\bpass:/g],
  [/\b(?:smbclient|rpcclient|net)\b/, /[ \t]-U[ \t]*["']?[^\s%"']{1,80}%/g],
  [/\bchpasswd\b/, /["'][\w.-]{1,60}:/g],
  [/\bsudo[ \t]+-S\b/, /\becho[ \t]+(?:-n[ \t]+)?/g],
  [/\bhtpasswd\b/, /[ \t]-\w{0,5}b\w{0,5}[ \t]+\S{1,200}[ \t]+\S{1,100}[ \t]+/g],
]
const MASK = /::add-mask::(\S{1,1000})/dg
/** host:port:database:user:password, a line of PostgreSQL's password file. */
const PGPASS =
  /(?<![^\s"'])(?:[\w*-]+(?:\.[\w-]+)*):(?:\d{4,5}|\*):[^\s:\d][^\s:]{0,60}:[^\s:\d][^\s:]{0,60}:([^\s"']{3,200})(?![^\s"'])/dgm
/** machine, login, password, a line of curl's and git's password file. */
const NETRC = /\b(?:machine[ \t]+\S{1,200}|default)\s{1,20}login[ \t]+\S{1,200}\s{1,20}password[ \t]+(\S{1,200})/dg

/** What the lines of those files and commands have, in the quickest form: most texts are looked at no closer. */
const TELLING_COMMAND = /[ \t]-{1,2}\w{0,5}[apwUPSbu]|pass:|chpasswd/
const TELLING_PGPASS = /:(?:\d{4,5}|\*):/
const TELLING_HEADER = /auth|bearer|basic|digest|negotiate|apikey|token|cookie|mask|login/i

export const findHeaders: Find = (text, report) => {
  const take = (span: readonly [number, number] | undefined) => {
    if (!span) return
    const value = text.slice(...span)
    if (!value.includes(MARK) && !isPlaceholder(value)) report(...span)
  }
  const takeAll = (pattern: RegExp) => {
    for (const { indices } of text.matchAll(pattern)) take(indices?.[1])
  }
  if (TELLING_PGPASS.test(text)) takeAll(PGPASS)
  if (TELLING_HEADER.test(text)) {
    for (const pattern of [AUTHORIZATION, COOKIE, MASK, NETRC]) takeAll(pattern)
    // as a word of prose it is followed by words, by names of files and by versions
    for (const { indices, 1: value = "" } of text.matchAll(SCHEME))
      if (/\d|[=+_~]/.test(value) && (value.length >= 12 || !isName(value))) take(indices?.[1])
  }
  if (!TELLING_COMMAND.test(text)) return
  if (/\b(?:curl|wget|https?|xh|lftp|ab)\b/.test(text)) takeAll(USER)
  for (const [program, flag] of LETTERS) {
    if (!program.test(text)) continue
    for (const { index, 0: before } of text.matchAll(flag)) {
      const value = valueAt(text, index + before.length)
      if (value) take([value.from, value.to])
    }
  }
}
