// Secrets in a command's arguments that no name tells of: behind flags of one letter, and what is piped into a program that
// reads a password.

import type { Find } from "./span.ts"
import { takeFrom, valueAt } from "./value.ts"

/** Programs that take a password behind a letter, and what stands before it. */
const LETTERS: readonly (readonly [program: RegExp, flag: RegExp])[] = [
  // the user and a colon before it; numbers are a user's and a group's
  [
    /\b(?:curl|wget|https?|xh|lftp|ab)\b/,
    /[ \t](?:-[uU]|--(?:proxy-)?user)[ \t=]*\\{0,8}["']?[^\s:"']{0,100}:(?!\d{1,5}(?:\s|$))/g,
  ],
  [/\b(?:mysql\w*|mariadb[\w-]*)\b/, /[ \t]-p(?=\S{2})/g],
  [
    /\b(?:sshpass|mongo\w*|(?:docker|podman|helm|nerdctl|skopeo|az|cf)\b[^\n]{0,60}\blogin)\b/,
    /[ \t]-p[ \t]*(?=[^\s:=-])/g,
  ],
  [/\b(?:redis-cli|keydb-cli)\b/, /[ \t]-a[ \t]+/g],
  [/\bldap\w+\b/, /[ \t]-w[ \t]*/g],
  [/\b(?:zip|unzip|7z[az]?|rar|unrar)\b/, /[ \t]-[pP][ \t]*(?=\S{4})/g],
  [/\b(?:openssl|keytool)\b/, /\bpass:/g],
  [/\bopenssl[ \t]+enc\b/, /[ \t]-[kK][ \t]+/g],
  [/\b(?:ipmitool|mosquitto_\w+|snmp\w+)\b/, /[ \t]-[PAX][ \t]+/g],
  [/\bx?freerdp\b/, /[ \t]\/p:/g],
  [/\bpsexec\b/i, /[ \t]-p[ \t]+/g],
  [/\b(?:plink|pscp|psftp)\b/, /[ \t]-pw[ \t]+/g],
  [/\blftp\b/, /[ \t]-u[ \t]*[^\s,]{1,80},/g],
  [/\b(?:sqlplus|rman|expdp|impdp)\b/, /\b(?:sqlplus|rman|expdp|impdp)[ \t]+["']?[\w$#]{1,40}\//g],
  [/\b(?:add_user|change_password|net[ \t]+user)\b/, /(?:add_user|change_password|net[ \t]+user)[ \t]+\S{1,80}[ \t]+/g],
  [/\b(?:smbclient|rpcclient|net)\b/, /[ \t]-U[ \t]*["']?[^\s%"']{1,80}%/g],
  [/\bhtpasswd\b/, /[ \t]-\w{0,5}b\w{0,5}[ \t]+\S{1,200}[ \t]+\S{1,100}[ \t]+/g],
]
/** What all of those have: to look for each by itself costs a line four times as much. */
const FLAG = /[ \t](?:--?[apwkKPAXUu]|-\w{1,5}b|\/p:)|pass:|net user|_user |_password |sqlplus|rman|expdp|impdp/
/** What is piped into a program that reads a password. */
const PIPED =
  /\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?\\{0,8}["']?(?:[\w.-]{1,60}:)?([^\s"'|\\]{3,400})\\{0,8}["']?[ \t]*\|[^\n|]{0,200}(?:--?(?:password-)?stdin\b|\bchpasswd\b|\bsudo[ \t]+-S\b)|--?password-stdin[ \t]+<<<[ \t]*\\{0,8}["']?([^\s"'\\]{3,400})/dg

export const findCommands: Find = (text, report) => {
  const take = takeFrom(text, report)
  if (/stdin|chpasswd|sudo/.test(text))
    for (const { indices } of text.matchAll(PIPED)) take(indices?.[1] ?? indices?.[2])
  if (!FLAG.test(text)) return
  for (const [program, flag] of LETTERS)
    for (const { index, 0: before } of text.matchAll(flag)) {
      const at = index + before.length
      const value = program.test(commandBefore(text, at)) ? valueAt(text, at) : undefined
      if (value) take([value.from, value.to])
    }
}

/** Of the command that a flag stands in, what is before it: another command's flag means something else. */
function commandBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - LONGEST_COMMAND), at)
  return before.slice(1 + Math.max(...["\n", "|", ";", "&"].map((end) => before.lastIndexOf(end))))
}

const LONGEST_COMMAND = 400
