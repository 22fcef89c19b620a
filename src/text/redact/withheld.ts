// The second rule, which needs no formats of secrets, since patterns always miss some. Near a mention of secrets, text that
// looks neither like words nor like code (called opaque here) is left out with the rest of its line. Of files and commands
// whose purpose is secrets, everything but the names is left out. The line then says "values withheld".

import { CAMEL } from "./chosen.ts"
import { isCalledPublic, PUBLIC_BEGIN } from "./keys.ts"
import { FOREIGN_WORDS } from "./names.ts"
import { ACCOUNT, charsBefore, isPlaceholder, rarityOf } from "./value.ts"

/** What takes the place of values that may be secrets. */
export const WITHHELD = "[values withheld]"

/** Words that mention secrets, in the languages of many users. */
const SECRET_WORDS = new RegExp(
  `${String.raw`pass(?:w|phrase|code|_|-|\b(?![.\d]))|(?<![a-z])p(?:w|sk)\b|pwd|secret|token|credential|crypt|key\b|api[ _-]?keys|(?<![a-z])auth|oauth"|\blog[ -]in\b|login|logged|cookie|session|sid\b|\botp\b|\bpin\b|\b(?:EAP|XAUTH)\b|vault|seal|bearer|hmac|hook|config:set|connect\b|(?<![a-z_])creds\b|credenc|credenz|identifiant|zugang|anmeld|connecte-|sesión|nickserv|\b(?:admin|root):\S|\.env\b|privat|nonce|salt\b|ntlm|access[ _-]code|community[ -]string|schlüssel|\[redacted\]`}|${FOREIGN_WORDS.source}`,
  "i",
)
/** Files whose content is secret, at the end of a path. `credentials` and `shadow` are also words that are searched for. */
const SECRET_FILE =
  /(?:^|[\s/\\"'=:(])(?:[\w.-]{0,80}(?<!\.\.|\b(?:process|meta|this|self|c?opts|options|ctx|context))\.env(?:rc|\.(?!(?:example|sample|template|dist|schema)\b)[\w-]+)?|[._]netrc|\.pgpass|\.?my\.cnf|\.npmrc|\.pypirc|\.?git-credentials|\.?htpasswd|\.dockercfg|\.docker[/\\]config\.json|\.?vault[-_]pass\w*(?:\.txt)?|\.vault-token|\.erlang\.cookie|credentials\.(?:json|ya?ml|ini|toml|xml|csv|txt|db|enc|tfrc\.json)|(?<=^|[\\/]|\b(?:cat|bat|less|more|head|tail|nl|tac|sed|awk|cut|strings|xxd|od|type|gc|Get-Content|source)[ \t][^\n]{0,100})(?:credentials|g?shadow)|[\w.-]{0,80}secrets?[\w.-]{0,80}\.(?:ya?ml|json|toml|txt|ini|properties|enc)|[\w.-]{0,80}passwords?[\w.-]{0,80}\.(?:txt|csv|ya?ml|json|ini)|[\w.-]{0,80}token\.txt|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]{1,160}\.(?:pem|p12|pfx|jks|keystore|ppk|kdbx?|ovpn|tfstate(?:\.backup)?|tfvars|agekey)|(?:master|private|server|client|tls|[\w-]{0,80}secret[\w-]{0,80})\.key|kubeconfig[\w.-]*|\.kube[/\\]config|initialAdminPassword|wp-config\.php|sshd?_host_\w+_key|(?:auth|userlist)\.txt|sec\.conf|\w{2,20}_passwd|(?:ch|p)ap-secrets|(?:\/var)?\/run\/secrets\/[\w./-]{1,200})(?=$|[\s"':;|)>])/
/** Commands whose output is secret. */
const SECRET_COMMAND =
  /(?:^|[\s;&|($`/])(?:printenv\b|env[ \t]*(?=$|[|;&\n])|env[ \t]+-0|(?:export|declare|typeset)[ \t]+-[xp]+[ \t]*(?=$|[|;&\n])|(?:echo|printf)\b[^|;&\n]{0,40}\$\{?\w*(?:PASS|PWD\b(?<!\$\{?PWD)|SECRET|TOKEN|KEY|CRED|AUTH)\w*|vault[ \t]+(?:kv(?![ \t]+(?:list|metadata))|read|write|token|operator|unwrap|print|login)\b|(?:kubectl|oc|k)\b(?=[^|;&\n]{0,250}(?:[ \t]-o|--output|--template|describe|view))[^|;&\n]{0,120}\b(?:get|describe|view)\b[^|;&\n]{0,120}\b(?:secrets?|sealedsecrets?)\b|kubectl[ \t]+config[ \t]+view|kubeseal\b|aws\b[^|;&\n]{0,120}\b(?:get-secret-value|get-parameters?\w*|get-login\w*|get-session-token|assume-role\w*|create-access-key|export-credentials|get-authorization-token|get-password-data|get-federation-token)|gcloud\b[^|;&\n]{0,120}\b(?:print-\w+-token|secrets[ \t]+versions|keys[ \t]+create|print-settings)|az\b[^|;&\n]{0,120}\b(?:secret[ \t]+show|keys?[ \t]+(?:list|show)|credential[ \t]+\w+|get-access-token|show-connection-string|create-for-rbac)|(?:terraform|tofu|terragrunt)[ \t]+(?:output|show|state[ \t]+(?:show|pull))|pulumi[ \t]+(?:config\b|stack[ \t]+(?:output|export))|heroku[ \t]+(?:config|auth:token)|op[ \t]+(?:read|item(?![ \t]+(?:list|ls)\b)|get|inject)|bw[ \t]+(?:get|list|unlock|export)|(?:go)?pass[ \t]+(?:show|[\w-]+\/[\w/-]+)|security[ \t]+find-\w+-password|secret-tool[ \t]+lookup|keyring[ \t]+get|sops\b|gpg\b[^|;&\n]{0,120}(?:[ \t]-d\b|--decrypt|--export-secret)|age(?:-keygen\b|[ \t]+(?:-d|--decrypt))|ansible-vault[ \t]+(?:view|decrypt|encrypt_string)|doppler[ \t]+(?:secrets|run|configs)|chamber[ \t]+(?:read|export|list|env)|consul[ \t]+kv[ \t]+get|infisical\b|(?:gh|glab)[ \t]+auth[ \t]+(?:token|status[ \t][^|;&\n]{0,80}-t\b|status[ \t][^|;&\n]{0,80}--show-token)|npm[ \t]+token|helm[ \t]+get[ \t]+(?:values|all|manifest)|rails[ \t]+(?:credentials|secret)|rake[ \t]+secret|wg(?:[ \t]+(?:show\w*|genkey|genpsk)|-quick)|openssl[ \t]+(?:rand|gen\w+|rsa|ec|pkey|pkcs\w+)|pwgen\b|mkpasswd\b|(?:cf|fly|flyctl|netlify|vercel|railway|wrangler)\b[^|;&\n]{0,120}\b(?:env|secrets?|variables)\b|argocd[ \t]+admin[ \t]+initial-password|\S*reset-password|\S*credential[\w-]*[ \t]+(?:get|fill|show)|get-\w*password\w*|(?:docker|podman)[ \t]+(?:swarm[ \t]+join-token|secret)|etcdctl[ \t]+get|redis-cli\b[^|;&\n]{0,120}\bconfig[ \t]+get|(?:gh|glab)[ \t]+variable|(?:az|aws)\b[^|;&\n]{0,120}\b(?:appsettings[ \t]+list|get-function-configuration|describe-user-pool-client)|base64[ \t]+(?:-d|-D|--decode)|jwt[ \t]+(?:encode|decode)|["']?(?:select|SELECT)\b[^|;&\n]{0,120}\b(?:password|passwd|secret|token|api_?key)\b|ksm\b|lpass[ \t]+show|keepassxc-cli\b|Get-Secret\b|cmdkey[ \t]+\/list|netsh[ \t]+wlan)/
/** A line that names the source of the lines after it: a command after a prompt, or only a file's path. */
const PROMPT =
  /^[ \t]*(?:(?:\d{1,6}[:|→\t]|[+>-]|[\w./-]{1,200}:\d{1,6}:)[ \t]*(?=\$[ \t]))?(?:(?:[\w.@:~/-]{0,60}[$#%❯»]|\w{2,20}>)[ \t]+|\+{1,2}[ \t]+)(\S[^\n]*)$/
const FILE_HEADING =
  /^[ \t]*(?:==>[ \t]*|diff --git[ \t]+|[+-]{3}[ \t]+|\*{3} \w+ File:[ \t]*|#{1,4}[ \t]+|\/{2}[ \t]*|File:[ \t]*)?(?![\w.-]+=)[^\s]{1,300}(?:[ \t]+b\/\S{1,300})?(?:[ \t]*<==|:)?[ \t]*$/
/** A path in a list of files, or before a line that a search found in the file. */
const LISTED = /^[ \t]*(?:[\w.@~+-]*[\\/])*[\w.@~+-]+\.[A-Za-z]{1,5}(?::\d+:.*)?$/

/** Lines after a mention that may still belong to it: a table's rows, a block's entries. */
const MAX_CARRIED_LINES = 40

/** How much of a command is read, and of each part of a pipe or list: the program's name is at the beginning. */
const MAX_COMMAND_CHARS = 10_000
const MAX_SIMPLE_CHARS = 300

/** Whether the content of a file is secret. */
export function isSecretFile(path = ""): boolean {
  return SECRET_FILE.test(path.slice(-MAX_SIMPLE_CHARS))
}

/** Whether the output of a command is secret. */
export function isSecretCommand(command = ""): boolean {
  // in short pieces, since the patterns try each gap between two words
  const pieces = command.slice(0, MAX_COMMAND_CHARS).split(/[|;&\n]/)
  const simple = pieces.map((piece) => piece.slice(0, MAX_SIMPLE_CHARS))
  if (simple.some((one) => SECRET_COMMAND.test(one))) return true
  return simple.some((one) => SHOWS.test(one)) && simple.some((one) => SECRET_FILE.test(one))
}

const SHOWS =
  /(?:^|[(][ \t]*|[ \t])(?:sudo[ \t]+)?(?:cat|bat|less|more|head|tail|nl|tac|sed|awk|grep|rg|cut|strings|xxd|od|jq|yq|type|gc|Get-Content|diff|git[ \t]+(?:show|diff|log)|source|\.(?=[ \t]))(?!\w)/

/**
 * The text without what may be a secret. In a line that mentions secrets, and in those below it up to a blank one, the first
 * opaque value and the rest of the line are left out; elsewhere only the value. `text` is redacted.
 */
export function withhold(text: string): string {
  const lines = text.split("\n")
  /** 1 for a line that mentions secrets, -1 for one that does not; filled only where something may be left out */
  const mentions = new Int8Array(lines.length)
  let changed = false
  let isSource = false
  const hasBlocks = text.includes("-----BEGIN ")
  let isPublic = false
  for (const [at, line] of lines.entries()) {
    if (line.length < MIN_UNIT_CHARS) {
      if (line.trim() === "") isSource = false
      continue
    }
    if (hasBlocks && (isPublic ? !ROW.test(line) : PUBLIC_BEGIN.test(line))) isPublic = !isPublic
    if (isPublic && !isSource) continue
    const kept = keptOf(line, at)
    if (kept === line) continue
    lines[at] = kept
    changed = true
  }
  return changed ? lines.join("\n") : text

  function keptOf(line: string, at: number): string {
    const command = PROMPT.exec(line)?.[1]
    const heading = FILE_HEADING.test(line) && !isListed(at) ? line.trim().slice(-MAX_SIMPLE_CHARS) : undefined
    if (isSecretCommand(command) || isSecretFile(heading?.replace(/[:<=> ]+$/, ""))) isSource = true
    else if (command !== undefined) isSource = false
    else if (isSource) return namesOnly(line)
    if (LONE.test(line) && isIntroduced(line, at)) return line.replace(LONE, `$1${WITHHELD}`)
    if (!maybeOpaque(line)) return line
    const isNamed = mentionsSecret(line, at)
    const isNear = isNamed || isBelowName(at)
    return withoutOpaque(isNear ? withoutNamed(line, isNamed) : line, isNear)
  }

  /** Whether the line belongs to a list of files. The lines below it are then not the content of that file. */
  function isListed(at: number): boolean {
    const isPath = (line = "") => LISTED.test(line)
    return isPath(lines[at + 1]) || (at > 0 && isPath(lines[at - 1]) && isPath(lines[at]))
  }

  /** Whether the last line above that is not blank ends by announcing a secret, or is a command that shows one. */
  function isIntroduced(line: string, at: number): boolean {
    const above = lines.slice(Math.max(0, at - 3), at).findLast((line) => /[A-Za-z]/.test(line))
    if (above === undefined) return false
    const command = above.slice(0, MAX_SIMPLE_CHARS).replace(BEFORE_COMMAND, "")
    if (SECRET_COMMAND.exec(command)?.index === 0) return true
    return LONE_NUMBER.test(line) && INTRODUCES.test(above.slice(-MAX_SIMPLE_CHARS).trimEnd()) && !HASH_WORD.test(above)
  }

  function mentionsSecret(line: string, at: number): boolean {
    // the PASS of go and jest before what passed is no mention
    const said = line.replace(/^ *(?:--- )?PASS(?=$|: Test| +\S+\.\w+(?: |$))/, "")
    mentions[at] ||= SECRET_WORDS.test(said) ? 1 : -1
    return mentions[at] === 1
  }

  /** Whether a line above, up to a blank one, mentions secrets. */
  function isBelowName(at: number): boolean {
    for (let above = at - 1; above >= Math.max(0, at - MAX_CARRIED_LINES); above--) {
      const line = lines[above] as string
      if (line.trim() === "") return false
      if (mentionsSecret(line, above)) return true
    }
    return false
  }
}

/** The names of what a secret file or command shows, without their values. `text` is redacted. */
export function withholdValues(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.trim() === "" ? line : namesOnly(line)))
    .join("\n")
}

const ASSIGNED = /^([ \t]*(?:\d{1,6}[:|→][ \t]*)?[^=:\n]{0,80}?[\w\])"'-][ \t]*(?:=|:(?=[ \t"'[{]|$)))[ \t]*\S/
/** A sentence of a program: four words or more, with nothing else in it. */
const SENTENCE = /^[ \t]*[A-Za-z]+:?(?:[ \t]+\(?"?[A-Za-z][a-z'/-]*"?[).,:;]?){3,}[ \t]*$/

function namesOnly(line: string): string {
  if (line.includes(WITHHELD) || (SENTENCE.test(line) && opaqueWithin(line, true) < 0) || /^[\s\W]*$/.test(line))
    return line
  const name = ASSIGNED.exec(line)?.[1]
  return name === undefined || opaqueWithin(name, true) >= 0 ? WITHHELD : `${name} ${WITHHELD}`
}

/** A hexadecimal number beside the name of a secret, where nothing says that it is a hash or the id of something else. */
const HEX_RUN =
  /(?<![\w-]|\.tgz#|(?:request|trace|span|correlation|message|event)[_-]?[iI]d["']?[ \t]*[:=][ \t]*["']?)(?=[a-f]*\d)(?=\d*[a-f])(?<!\bobjects\/[\da-f]{2}\/)(?!(?<=^[ \t]*)\S+[ \t])[0-9a-f]{16,}(?![\w-]|\.\w)|(?<![\w-])[0-9A-F]{64,}(?![\w-])/g
const HASH_WORD =
  /sha-?\d|\bsha\b|commit|hash|digest|checksum|integrity|etag|blob|tree|\bmd5|revision|merge|fingerprint|thumbprint/i
/** Words next to hashes of Git, which have 40 or 64 digits. */
const GIT_WORD = /\bpick\b|\bhead\b|\bbranch\b|\.git\//i
const NAMES_SECRET = /\b(?:pass|secret|token|key|auth|login|session|cookie|hook|vault|credential)/
/** A passphrase: four words or more, or three and a number in quotes. Below the name it counts only as a value. */
const PHRASE =
  /(?<![\w./<-])[a-z]{3,}(?:-[a-z]{3,}){3,}(?![\w/-]|\.\w)|(?<=["'`])[a-z]{3,}(?:-[a-z]{3,}){2,3}-\d{2,4}(?=["'`])/g
const CALLS_PASSWORD = /pass(?:w|phrase|code)|(?<![a-z])pwd?\b|\[redacted\]/i
const NUMBERED_PHRASE = /(?<![\w./<-])[a-z]{3,}(?:-[a-z]{3,}){2,3}-\d{2,4}(?![\w/-]|\.\w)/g
/** What only secrets are called. */
const CALLS_SECRET =
  /pass(?:w|phrase|code)|(?<![a-z])p(?:wd?|sk)\b|secret|token|credential|bearer|api[ _-]?key|\[redacted\]/i
const UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
/** A UUID behind such a name, or before `as` or `is` and such a name. */
const UUIDS = new RegExp(
  `(?<![\\w/-])${UUID}(?![\\w/-]|\\\\?["']:)(?:(?<=(?:${CALLS_SECRET.source})[^\\n]{0,120})|(?=\\W{1,4}(?:as|is)\\b[^\\n]{0,20}(?:${CALLS_SECRET.source})))`,
  "gi",
)
/** What says that a UUID is no secret. */
const CALLS_ID = /(?<![A-Za-z])[iI][dD]|[a-z]I[dD]|_[iI][dD]|[tT]race|[sS]pan|[sS]ession|[rR]equest|U?UID|uuid|guid/
/** A value alone on its line, and the end of a line that announces it: `Your new API key:`. */
const LONE = /^([ \t]{0,40}(?:(?:\d{1,6}[:|→\t-]|[>+-]|\/\/|#)[ \t]{0,40})?)(?=\S*\d)[^\s/]{8,200}[ \t\r]*$/
const LONE_NUMBER = /(?:^|[\s:|→>+#-])(?:(?=[a-f]*\d)[0-9a-f]{16,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})[ \t]*$/
const BEFORE_COMMAND = /^[\s\d:|→>+;#*$-]+/
const INTRODUCES = new RegExp(`(?:${CALLS_SECRET.source})[^\n]{0,60}:$|(?:${CALLS_SECRET.source})$`, "i")
const PHRASE_AS_VALUE = /(?<=[=:"'`>|][ \t]*|^[ \t]*)[a-z]{3,}(?:-[a-z]{3,}){3,}(?=["'`<|, \t]*$)/g
/** The rest of a value with blanks whose beginning was redacted: `password: [redacted] with blanks`. */
const REST =
  /^([ \t]*(?:\d{1,6}[:|→][ \t]*)?["']?(?:[A-Za-z]{2,20} ){0,2}[\w.-]{2,80}["']?[ \t]*[:=][ \t]*\[redacted\])[ \t]+[^\s#&|;<>[-][^\n]*$/
/** What stands between blanks or quotes and has a sign in it, or follows what was removed. */
const TOKEN =
  /(?<=^|[\s"'`(>])(?=\w*[^\w\s"'`])[^\s"'`<>(){}[\]/\\]{8,60}(?=$|[\s"'`<>)])|(?<=redacted\])[,;][^\s"'`<>(){}[\]/\\]{4,60}/g
/** The end of a line after its last sign. */
const LAST_VALUE = /[:=][ \t]+(?=[^:=]{8,60}$)/

/** Other values that are left out beside the name of a secret and, by narrower rules, below it. */
function withoutNamed(line: string, isNamed: boolean): string {
  const isHash = ({ length }: string) => (length === 40 || length === 64) && (!isNamed || GIT_WORD.test(line))
  let kept = HASH_WORD.test(line) ? line : line.replace(HEX_RUN, (run) => (isHash(run) ? run : WITHHELD))
  const callsPassword = CALLS_PASSWORD.test(kept) || FOREIGN_WORDS.test(kept)
  if (callsPassword) kept = kept.replace(NUMBERED_PHRASE, (phrase) => (NAMES_SECRET.test(phrase) ? phrase : WITHHELD))
  if (isNamed && callsPassword && kept.length < 600)
    kept = kept.replace(TOKEN, (token) => (isStrong(token) ? WITHHELD : token))
  if (isNamed && !CALLS_ID.test(kept)) kept = kept.replace(UUIDS, WITHHELD)
  kept = kept
    .replace(QUOTE_WITHIN, (run) => (opaqueAt(run.replace(INNER_QUOTE, ""), true) < 0 ? run : WITHHELD))
    .replace(isNamed ? PHRASE : PHRASE_AS_VALUE, (phrase) => (NAMES_SECRET.test(phrase) ? phrase : WITHHELD))
    .replace(REST, `$1 ${WITHHELD}`)
  const last = LAST_VALUE.exec(kept)
  if (!last) return kept
  const at = last.index + last[0].length
  const value = kept.slice(at).trim()
  const words = value.split(/[ \t]+/)
  return words.length > 1 && words.length < 6 && isAlternating(words.join("")) ? kept.slice(0, at) + WITHHELD : kept
}

const ENTITIES = /&#?\w{2,6};/g

/** A password of capitals, small letters, digits and signs; not an address. */
function isStrong(written: string): boolean {
  const token = written.replace(ENTITIES, "")
  if (!/[a-z]/.test(token) || !/[A-Z]/.test(token) || !/\d/.test(token) || /\w@[\w-]+\.\w+$/.test(token)) return false
  const words = token.match(WORDS) ?? []
  return words.length >= 4 && words.join("").length < 2.6 * words.length
}

/** A row of a certificate or a public key, after what tools print before lines. */
const ROW = /^[\s\d|:→>+-]{0,20}[A-Za-z0-9+/]+={0,2}$/
const MIN_UNIT_CHARS = 6
/** Where a line is divided: a quoted string is one unit, so that a password with blanks is one too. */
const UNIT = /"((?:[^"\\\n]|\\.){6,400})"|'((?:[^'\\\n]|\\.){6,400})'|[^\s"'`<>()[\]{},;|=：]{5,2000}/g
const INNER_SPLIT = /[\s"'`<>()[\]{},;|=]+/
const INNER_QUOTE = /["'`]/
/** A value with a quote in it: `aB3"dE5`. */
const QUOTE_WITHIN = /(?<![\w!#$%^&*+~?@-])[\w!#$%^&*+~?@-]{3,40}["'`][\w!#$%^&*+~?@-]{3,40}(?!["'`])/g
/** In a document on one line only the values are left out. */
const DOCUMENT = /"[^"\n]{1,80}"[ \t]*:|^.{600}/

/** `isNear`, here and below: the line mentions secrets or is below one that does. */
function withoutOpaque(line: string, isNear: boolean): string {
  let kept = ""
  let done = 0
  for (const { index, 0: unit, 1: double, 2: single } of line.matchAll(UNIT)) {
    const quoted = double ?? single
    const value = quoted ?? unit
    const at = quoted === undefined ? opaqueAt(unit, isNear) : opaqueWithin(quoted, isNear)
    // a string of several words is not the value that the name before it tells of
    if (at < 0 || (!/[\s\\]/.test(value) && isCalledPublic(line, index))) continue
    const opening = index + (quoted === undefined ? 0 : 1)
    // the address before a token is no secret; a quote within a password ends a unit too early
    const from = !isNear || value.includes("://") ? opening + at : Math.max(done, beginOf(line, opening))
    kept += line.slice(done, from) + WITHHELD
    if (isNear && !DOCUMENT.test(line)) return kept
    done = opening + value.length
  }
  return done === 0 ? line : kept + line.slice(done)
}

/** Where the run of characters begins that ends at `at`. */
function beginOf(line: string, at: number): number {
  const run = /[^\s=:(,{[<>]*$/.exec(charsBefore(line, at, 40))?.[0] ?? ""
  return /^["'`]$/.test(run) ? at : at - run.length
}

/** The offset from which a quoted string is opaque; -1 when it is not. */
function opaqueWithin(text: string, isNear: boolean): number {
  let from = 0
  const units = text.split(INNER_SPLIT).filter((unit) => unit !== "")
  for (const unit of units) {
    const at = unit.length < 5 ? -1 : opaqueAt(unit, isNear)
    if (at < 0 && text.length < 60 && !text.includes(" ") && INNER_QUOTE.test(text) && isAlternating(text)) return 0
    const found = text.indexOf(unit, from)
    if (at >= 0 && !isCalledPublic(text, found)) return found + at
    from = found + unit.length
  }
  // a password with blanks
  return isNear && units.length > 1 && units.length < 6 && text.length < 60 && isAlternating(units.join("")) ? 0 : -1
}

const HEX = /^(?:0x|[gnrt])?[0-9a-f]+(?:\?|[~^]\d*)?$|^[0-9a-f]{16}-[A-Z]{3}$/i
/** Hashes that say what they are, ids of sessions, messages, calls and recalls, ULIDs and pods. */
const PUBLIC = /^(?:sha\d{1,3}[-:]|h1:|AAAA[BCE][23]|age1[\da-z]{50}|r[\da-z]{7}$)|A-Z|0-9/i
const PUBLIC_IDS =
  /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![A-Za-z])(?:ses|msg|prt|per|tool|call|toolu|chatcmpl|resp|env|run|req)_\w+|^\d{1,3}m(?=\D|$)|(?<![\w-])(?:css|jsx|svelte|astro)-[a-z\d]{4,10}(?![\w-])|(?<![\w.])v?\d+\.\d+\.\d+[-+~]\w{1,8}(?!\w)|#(?:[\da-f]{3,40}|\d+|L\d+(?:-L\d+)?|v?\d+(?:\.\d+)+)(?!\w)|(?<![A-Za-z\d])v\d+(?:alpha|beta)\d+(?![A-Za-z\d])|(?<![\w.])\d+x\d+(?:[+-]\d+){0,2}(?!\w)|\+0x[\da-f]{1,6}(?!\w)|(?<![A-Za-z\d])01[\da-hjkmnp-tv-z]{24}(?![A-Za-z\d])|(?<=[a-z])-[\dbcdf-hj-np-tv-xz]{8,10}-[\dbcdf-hj-np-tv-xz]{5}$|utf8mb4/gi
/** A path of the file system; its folders may be named at random. */
const PATH = /^(?:~|\.{0,2}|[A-Za-z]:)[/\\]+[A-Z]?[a-z.]{2,20}[/\\]/
/** A path within a project. */
const FILE = /^(?:[\w.@~+-]+\/)+[\w.@+-]+\.[a-z]{1,4}$/
/** A file that a build names after its content. */
const ASSET = /^[\w./@-]+\.(?:[cm]?js|css|map|html|woff2?|svg|png|jpe?g|gz)$/
/** A character of an address, escaped. */
const ESCAPED = /%[\da-f]{2}|\\u[\da-f]{4}/gi
/**
 * Passwords that people choose, and names of nothing else: words and a number, `Admin@123`, or a word some of whose letters
 * are digits, and a number. No host, whose name is in small letters.
 */
const MEMORABLE =
  /^(?:[A-Za-z][a-z]{3,}\d{4,6}|(?=.{8})(?:[A-Z][a-z]+){2,4}(?!(?:16|32|64|128|256|512)$)\d{2,4}|[A-Za-z]{3,}@(?:\d{2,6}|[A-Z][A-Za-z]*\d{1,4})|[A-Z][a-z@]*(?:\d[a-z]+)+\d{3,4}|(?=(?:\d*[A-Za-z]){3})\d?[A-Za-z]?[a-z]*\d?[a-z]*\d[a-z]*[-_!]\d{2,4})[!#$%&*?]?[.:]?$/
/** Punctuation inside a password; in code it is between blanks. */
const SIGNS = /^(?!\d+[x.*])(?=.*[A-Za-z]).*[A-Za-z\d][!#$%^&@]+[A-Za-z\d]/
/** What joins the words of paths, addresses and identifiers. */
const JOINTS = /[\u0000-\u001f\u007f-\u009f\u200b-\u202e\u2e80-\u9fff\uac00-\ud7af/.:@_→│\-\\]+/g
/** The words of camelCase, and runs of digits. */
const WORDS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g
/** A word, a number and a sign, as people choose passwords. */
const CHOSEN = /^[A-Za-z]{4,}\d{2,}[!#*$?%^&~]+$/
/** Syllables of code that words do not have. */
const TECHNICAL =
  /https?|oauth|web|xml|html|sql|json|cfg|ctx|tmp|fmt|pkg|src|cmd|rpc|tls|ssl|dir|cwd|std|btn|img|usr|lib|ctl/gi
const MIN_ALTERNATING_CHARS = 10
/** Letters of words that are not in English. */
const ACCENTED = /[\u00c0-\u024f\u0370-\u1fff]/
const ACCENTS = new RegExp(ACCENTED, "g")
/** Words and a number: `größe2`, `Übersicht2024`. */
const NUMBERED_WORDS = /^\p{Lu}?\p{Ll}{2,}(?:\p{Lu}\p{Ll}{2,}){0,4}\d{1,4}(?:\p{Lu}\p{Ll}{2,}){0,3}$/u
/** The version of a name: `isHostV2`, `ZodIPv4`. */
const VERSION = /(?<=[A-Za-z]{2})[vV]\d{1,2}(?![a-z\d])/

/** The offset from which a unit is opaque: neither words nor code nor a hash, but hard to guess. -1 when it is not. */
function opaqueAt(written: string, isBeside: boolean): number {
  // a type between angle brackets, and an address in an attribute; another entity begins what follows
  if (!isBeside && /&(?:[lg]t|amp)$/.test(written)) return -1
  const unit = written.replace(/&(?:#x?[\da-f]{2,6}|[a-z]{2,6})$/i, "")
  if (HEX.test(unit)) return -1
  const isNear = isBeside && !FILE.test(unit)
  if (PUBLIC.test(unit) || ACCOUNT.test(unit) || unit.includes("redacted]") || isPlaceholder(unit)) return -1
  if (PATH.test(unit) || ASSET.test(unit)) return -1
  if (isNear && MEMORABLE.test(unit)) return 0
  const bare = unit
    .replace(PUBLIC_IDS, (id) => "/".repeat(id.length))
    .replace(ESCAPED, (found) => "/".repeat(found.length))
  const joints = [...bare.matchAll(JOINTS)]
  // the rare words in paths and qualified names are people's and projects' names
  const judgesLetters = joints.length === 0 || (isNear && joints.length === 1)
  let from = 0
  for (const { index, 0: joint } of joints) {
    if (isOpaquePart(bare.slice(from, index), isNear, judgesLetters)) return from
    from = index + joint.length
  }
  if (isOpaquePart(bare.slice(from), isNear, judgesLetters)) return from
  return /^[\w/\\-]+$/.test(bare) && isAlternating(bare.replace(/[/\\]|\\[nrt]$/g, ""), isNear) ? 0 : -1
}

/** `judgesLetters`: letters without digits are judged too, and all more strictly where `isNear`. */
function isOpaquePart(part: string, isNear: boolean, judgesLetters: boolean): boolean {
  if (CHOSEN.test(part) || (isNear && MEMORABLE.test(part))) return true
  if (part.length < 5 || HEX.test(part) || !/[A-Za-z]/.test(part)) return false
  const isNumbered = !isNear && NUMBERED_WORDS.test(part)
  if (/\d/.test(part) && ((isNear && SIGNS.test(part)) || (ACCENTED.test(part) && !isNumbered))) return true
  const plain = part.replace(VERSION, "").replace(ACCENTS, "a")
  const words = plain.match(WORDS) ?? []
  const { length } = words.join("")
  // random characters change their kind at every second place, words at every fifth
  if (words.length >= 4 && length < 2.6 * words.length && !CAMEL.test(part)) return true
  // a word of another language
  if (!isNear && plain.length < 16 && /^[A-Z]?[a-z]+$/.test(plain)) return false
  if (!judgesLetters && !/\d/.test(part)) return false
  const isCamel = words.length > 1 && length >= 3 * words.length && words.every((word) => word.length > 1)
  const unusual = part.replace(TECHNICAL, "")
  const strictLimit = length < 12 ? 12.6 : 12
  const limit = isNear && judgesLetters ? strictLimit : 13.4
  return unusual.length >= 9 && !isCamel && rarityOf(unusual) > limit
}

/** What a line has that may hold something opaque, such as letters beside digits, a phrase, or the rest of a value. */
const MAYBE =
  /[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z][a-z]?[A-Z]|[A-Z][a-z][A-Z]|[A-Za-z\d][!#$%&@^][A-Za-z\d]|[\d-]{16}|[\u00c0-\uffff]|\[redacted\][ \t]|[a-z]-[a-z]{3,}-[a-z]{3,}-[a-z\d]/

/** Whether a line may hold something opaque. Most lines do not, and are not looked at further. */
function maybeOpaque(line: string): boolean {
  return MAYBE.test(line) || (line.match(/[A-Za-z]{9,}/g) ?? []).some((word) => rarityOf(word) > 11.9)
}

/** Whether upper case, lower case and digits alternate about every two characters; where `isNear`, digits may be missing. */
function isAlternating(text: string, isNear = false): boolean {
  if (text.length < MIN_ALTERNATING_CHARS || !/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false
  if (!isNear && !/\d/.test(text)) return false
  const words = text.match(WORDS) ?? []
  return words.join("").length < 2.2 * words.length
}
