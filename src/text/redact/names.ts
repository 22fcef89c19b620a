// Names that say their value is a secret, in the spelling of any language: camelCase, SCREAMING_CASE, kebab-case, dotted,
// and with prefixes and suffixes.

/**
 * What a name says about its value. `password`: chosen by a person, so any text may be one. `secret`: issued by a machine.
 * `weak`: may as well be something else, so the value has to look random.
 */
export type Secrecy = "password" | "secret" | "weak"

/**
 * Words for passwords and tokens in languages other than English, in which little else has these letters. Those of other
 * scripts share one alternative, since each alternative costs at every letter of a text.
 */
export const FOREIGN_WORDS =
  /kennwort|contrase|mot ?de ?passe|jeton|clé d['’]api|(?<![a-z])(?:senha|clave|mdp|heslo|sandi)(?![a-z])|wachtwoord|l[öo]senord|has[łl]o|jelszó|adgangskode|kodeord|passord|salasana|parol[aă]|[şs]ifre|khẩu|[密口令л验驗暗合パト秘비암패птсκסاपร](?:арол|озинк|لسر|окен|екрет|ωδικός|יסמ[הא]|لمرور|ासवर्ड|หัสผ่าน|[码碼钥鑰令牌]|证码|證碼|証番号|言葉|スワード|ークン|密鍵|밀번호|번|호|스워드)|api(?:キー| ?키)/i
/** Names of secrets in those languages. */
export const FOREIGN_NAMES = new RegExp(`${FOREIGN_WORDS.source}|geheim|schlüssel`, "i")

const ENGLISH_NAMES =
  /pass|assword|pasword|psw|pat\b|pwd|pw\d?\b|psk\b|secret|token|credential|key|auth|signature|\bsig\b|jwt|segre[dt]o|sess(?:ion)?id|\bsid\b|\btok\b|salt|pepper|dsn|cookie|pin\b|otp|mnemonic|device_?code|community/

/** Every name of a secret contains one of these. */
export const NAMES = new RegExp(`${ENGLISH_NAMES.source}|${FOREIGN_NAMES.source}`, "gi")

const PASSWORD =
  /^(?:assword|pasword|pass(?:word|wd|phrase|code|wort)?s?|pwd?\d?|psk|(?:user|(?:src|dest)?(?:store|key)|root|db|admin|ssh|require|my|mysql|redis|mongo|mail|smtp|imap|ftp|ldap|proxy|wifi|vnc|login|remote|local|rpc|repo|svn|git|sasl|auth|web|app|api|sql|rabbit|mqtt?|irc|sip)pass|(?:bind|root|admin|e?mail|smtp|db|user)pw|[\w\u00c0-\u024f]*(?:passwor[dt]|passwd|passphrase|kennwort|wachtwoord|(?:l[öo]sen|kode|pass)ord(?:et)?)\d?|passe|masterauth|authtok|r[ow]community\d?|psw|contrase[ñn]a|senha|mdp|motdepasse|has[łl]o|heslo|jelszó|adgangskoden?|salasana|clave|parol[aă]|лозинк[ау]|السر|[şs]ifre|sandi|парол[ьяю]|κωδικός|khẩu|ה?סיסמ[הא]|المرور|पासवर्ड|รหัสผ่าน(?:คือ)?|[\w\u3040-\uffff]*(?:密[码碼钥鑰]|口令|パスワード|暗証番号|合言葉|验证码|驗證碼|비밀번호|비번|암호|패스워드)[是は는은가为為]?|pin|mnemonic)$/i
const SECRET =
  /^(?:secrets?|secreto|segredo|segreto|geheim(?:nis)?|jeton|токен|секрет|d['’]api|api(?:キー|키)|[\u3040-\uffff]*(?:令牌|トークン|秘密鍵)[是は는为為]?|token|credentials?|schlüssel|jwt|authkey|\w*(?:apikey|appkey|secretkey|accesskey|privatekey|apitoken|authtoken|accesstoken|accountkey|clientsecret|identitytoken|registrytoken|keymaterial|secretstring|secretbinary|devicecode|secretid|authident))\d?$/i
const WEAK =
  /^(?:auth|tok|tokens|sig|signature|sid|salt|pepper|dsn|otp|phpsessid|jsessionid|aspsessionid\w*|sessionid|sessid|csrftoken|xsrftoken|hmac)$/i
/** Words before `key` that make it a secret one. */
const KEYS = new Set(
  "api access private secret signature encryption encrypt decryption signing sign account shared master auth service deploy ssh license licence client session hmac crypto cipher aes rsa ecdsa jwt certificate app application admin consumer subscription storage webhook server security sas recovery root write ingest project device deployment registration activation refresh data pre-shared psk wep wpa sdk routing integration crypt fernet validation instrumentation".split(
    " ",
  ),
)
/** Names that end in one of these describe a secret and do not contain it. */
const ABOUT = new Set(
  "count name names type types url uri endpoint host expiry expires expiration expire ttl length size limit limits policy id ids field fields label placeholder path paths file files filename ref refs reference env var class enabled disabled required optional version versions at age usage index position budget max min reset prompt rotation manager store provider input output error errors message hint strength confirmation validator regex pattern format prefix suffix header schema scope scopes address hashing algorithm alg service handler helper util utils factory callback function fn test tests spec rule rules check checker status state mode level kind source target arn alias bytes chars per left used total number num cost price estimate window rate stream span parser iterator form page view button icon help text title description section group list map set table column row event log logs lifetime duration timeout valid invalid missing exists changed updated only encryption encoder decoder tokenizer generator dialog screen route link email ring chain board press code codes down up pad word words maps value_from valuefrom thumbprint fingerprint protected public".split(
    " ",
  ),
)

/** The whole name around a match, from `min` on. */
export function nameAround(text: string, hitFrom: number, hitTo: number, min: number): { from: number; to: number } {
  let from = hitFrom
  while (from > min && hitFrom - from < MAX_AFFIX_CHARS && NAME_CHAR.test(text[from - 1] as string)) from--
  let to = hitTo
  // 密码hunter2 and 密码是hunter2: where other letters begin, the name ends
  const isOver = () =>
    to - hitTo >= MAX_AFFIX_CHARS || (text.charCodeAt(to - 1) >= 0x3040 && /[!-~]/.test(text[to] ?? ""))
  while (to < text.length && !isOver() && NAME_CHAR.test(text[to] as string)) to++
  // the dashes of a flag are not part of its name
  while (from < hitFrom && /[-.]/.test(text[from] ?? "")) from++
  while (to > hitTo && /[-.]/.test(text[to - 1] ?? "")) to--
  // `API key` and `Secret ID`, as people write them
  if (/^keys?$/i.test(text.slice(from, to)))
    from -= /(?<![\w-])[A-Za-z]{3,12} $/.exec(text.slice(Math.max(min, from - 14), from))?.[0].length ?? 0
  else if (/^secret$/i.test(text.slice(from, to))) to += /^ ID\b/.exec(text.slice(to, to + 4))?.[0].length ?? 0
  return { from, to }
}

const MAX_AFFIX_CHARS = 80
/** Letters, digits, `_`, `-` and `.`, and letters that are not ASCII. */
const NAME_CHAR = /[\w.\-\u00c0-\u1fff\u3041-\ufaff]/

/** Undefined when the name does not suggest a secret. */
export function secrecyOf(name: string): Secrecy | undefined {
  const spaced = name.replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ")
  const words: string[] = spaced.toLowerCase().match(/[^\s_.-]+/g) ?? []
  // `TOKEN_2`, `password1`
  while (
    words.length > 1 &&
    /^(?:\d+|old|new|confirm|confirmation|again|repeat|current|value|raw|plain|prod|dev|staging|live|b64|base64|base|string|str)$/.test(
      words.at(-1) ?? "",
    )
  )
    words.pop()
  const last = words.at(-1) ?? ""
  const lastTwo = words.slice(-2).join("")
  // `pass_phrase`
  if (/^pass(?:phrase|word|code)$/.test(lastTwo)) return "password"
  // a lone `pass` or `pin` is mostly a verb, a count or a pin of a chip; `PASS` and `Pin` are settings
  if (PASSWORD.test(last))
    return words.length === 1 && /^(?:pass|pin)$/.test(last) && name === name.toLowerCase() ? "weak" : "password"
  if (last === "hash" && words.some((word) => PASSWORD.test(word))) return "weak"
  // the public key of a .NET assembly
  if (/publickey(?:token)?$/.test(words.join(""))) return undefined
  if (/(?:git(?:hub|lab)|gh|gl|devops|azdo|azure|ext)pat$/.test(lastTwo)) return "secret"
  if (SECRET.test(last) || SECRET.test(lastTwo)) return "secret"
  if (/^keys?$/.test(last)) {
    if (KEYS.has(words.at(-2) ?? "")) return "secret"
    return words.length > 1 && name === name.toUpperCase() && words.at(-2) !== "public" ? "weak" : undefined
  }
  if (WEAK.test(last) || WEAK.test(lastTwo)) return "weak"
  // `client-key-data`, `tokenSigned`: the words after it do not change what it is
  const at = words.findLastIndex((word) => PASSWORD.test(word) || SECRET.test(word) || word === "key")
  return at >= 0 && !ABOUT.has(last) && !words.slice(at + 1).some((word) => ABOUT.has(word)) ? "weak" : undefined
}

/** Whether any value of that name is a secret. */
export function isSecretName(name: string): boolean {
  const secrecy = secrecyOf(name)
  return secrecy === "password" || secrecy === "secret"
}
