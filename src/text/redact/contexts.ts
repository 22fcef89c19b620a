// Secrets that their surroundings give away instead of a name: in URLs, headers, cookies, SQL statements, lines of
// password files and arguments of commands. Secrets in a URL's query are found by their names, as any assigned value.

import { isChosen } from "./chosen.ts"
import {
  charsBefore,
  type Find,
  isJumbled,
  isName,
  isPlaceholder,
  isRandom,
  REDACTED,
  reportGroups,
  UUID,
  valueAt,
  valueReporter,
} from "./value.ts"

/** The password ends at the last @ before the path, and may hold characters that should have been escaped. */
const URL_PASSWORD = /:\/\/[^\s:/@?#"'<>`[\]]{0,200}:([^\s/"'<>`]{1,300})@/dg
/** A password with a slash in it, unless it is a port and the path of a URL. */
const URL_PASSWORD_WITH_SLASH =
  /:\/\/[^\s:/@?#"'<>`[\]]{1,200}:(?!\d{1,5}\/)([^\s"'<>`]{1,400})@[\w.-]+(?=[:/?\s"'`]|$)/dg
/** A text that ends within the password; not the tag of an image. */
const URL_CUT_OFF =
  /(?<!docker|oci):\/\/[^\s:/@?#"'<>`[\]]{0,200}:(?!\d{1,5}\b)([^\s/"'<>`@:{}$]{8,300}?)(?:…|\.{3})?$/dg
/** A user and a password before a host without `//`: data source names of Go's database drivers, and `user:password@host`. */
const DSN =
  /(?<![\w.-])(?!e?-?mail)[\w.-]{1,100}:(?:([^\s/"'<>`]{1,300})@(?:(?:tcp|unix)\(|\d{1,3}(?:\.\d{1,3}){3}\b)|([^\s/"'<>`:@]{6,100})@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b)/dgi
/** A token in the place of the user. */
const URL_USER = /:\/\/([^\s:/@?#"'<>`[\]]{10,300})(?::[^\s/@"'<>`]{0,40})?@/dg
/** Webhooks, which anybody who knows the URL can call, and servers of a proxy. */
const WEBHOOK =
  /hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/([\w/-]{8,200})|discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d{5,25}\/([\w-]{8,200})|\.webhook\.office\.com\/(?:webhookb2\/)?([\w@/-]{20,300})|hooks\.zapier\.com\/hooks\/catch\/([\w/-]{8,100})|api\.telegram\.org\/(?:file\/)?bot(\d+:[\w-]{20,60})|\.(?:infura\.io\/(?:ws\/)?v3|alchemy\.com\/v2)\/([\w-]{20,60})|[?&]appid=([\da-f]{32})\b|[?&]u=[^\s&]{1,60}&p=(?!\d+\b)([^\s&"']{4,100})|\.quiknode\.pro\/(\w{20,80})|\/(?:hook|integration|ical|reset|invite|verify|confirm|activate|magic|unsubscribe)[\w-]{0,20}\/([\da-f-]{30,64})(?![\w-])|\/webhook\/send\?key=([\w-]{20,60})|calendar\/ical\/[^\s/]{1,100}\/private-([\da-f]{20,60})|hc-ping\.com\/([\w/-]{20,60})|conda\.anaconda\.org\/t\/([\w-]{20,60})|\b(?:trojan|hysteria2?|hy2|ss):\/\/([^\s@/"']{6,300})@|maker\.ifttt\.com\/trigger\/[\w-]{1,80}\/with\/key\/([\w-]{8,80})/dgi

export const findInUrls: Find = (text, report) => {
  reportGroups(text, WEBHOOK, report)
  reportGroups(text, URL_CUT_OFF, report, (value) => isRandom(value) || isChosen(value))
  if (!text.includes("@")) return
  const isPassword = (value: string, group: number) =>
    group === 1 ? value !== REDACTED && !isPlaceholder(value) : isChosen(value) || isRandom(value)
  for (const pattern of [URL_PASSWORD, URL_PASSWORD_WITH_SLASH, DSN]) reportGroups(text, pattern, report, isPassword)
  reportGroups(text, URL_USER, report, (user) => isRandom(user) || UUID.test(user))
}

/** What follows the scheme of an authorization. */
const SCHEME =
  /\b(?:bearer|basic|negotiate|apikey|token(?=[ \t]+[\w.+/=~-]{16}))[ \t]+(?!realm=)((?:[\w.+/=~:-]|%[0-9a-f]{2}){6,})/dgi
const AUTHORIZATION =
  /(?<!-headers["']?[ \t]*[:=,][^\n]{0,100})\b(?:proxy-)?authorization["']?\]?[ \t]*[:=,][ \t]*["'`]?(?:(?:[a-z][a-z-]{1,30}|aws4-hmac-sha256)[ \t]+)?(?!(?:bearer|basic|digest|negotiate)\b)([^\s"'`,;)\]}[<>$]{6,}(?:[, ]+\w+="?[^\s"'`]+"?)*)/dgi
/** host:port:database:user:password, a line of PostgreSQL's password file. */
const PGPASS =
  /(?<![^\s"'])(?:[\w*-]+(?:\.[\w-]+)*):(?:\d{4,5}|\*):[^\s:\d][^\s:]{0,60}:[^\s:\d][^\s:]{0,60}:([^\s"']{3,200})(?![^\s"'])/dgm

/** A user and a password after a word that introduces them. */
const LOGIN_PAIR =
  /(?<![a-z\d])(?:credentials?|creds|credenciales|credenziali|identifiants?|zugangsdaten|anmeld[a-z]{2,8}|melde[ \t][a-z]{2,4}|connecte[a-z-]{0,8}|sesión|wi-?fi|wlan|zugang|accès|acceso|доступ|账[号户]|アカウント|계정|(?:log(?:ged)?|sign(?:ed)?)[ -]?in(?:[ \t][a-zà-ü]{2,12}){0,3}(?=[ \t]*:)|(?:log(?:ged)?|sign(?:ed)?)[ -]?in|(?:curlopt_)?userpwd|user_?pass|basic[ _-]?auth|stats[ \t]+auth)["']?(?:[ \t]*[:=,(—–]|[ \t]+(?:is|are|with|as|mit|avec|con|sind|sont|son)|(?<=creds|zugangsdaten|账[号户]|アカウント|계정|basic_?auth|stats[ \t]+auth)(?=[ \t]\S+?[ \t]?[:/]))[ \t]*\\{0,8}["'`]?[\w.@+-]{1,60}(?::|[ \t]?\/[ \t]?|[ \t](?:with|using|and|und|et|y|e)[ \t])(?!\d[\d.]*[a-z]{1,4}\b)([^\s"'`/<()\\]{3,199}[^\s"'`/<()\\,;])(?=["'`<\\]|[,;)]{0,3}(?:\s|$))/dgim
/** An administrator and a password, as people write them. */
const ADMIN_PAIR =
  /(?<![\w/.-])(?:admin|root|administrator)(?:[ \t]+\/[ \t]+|:)([^\s"'`/:<()\\]{5,59}[^\s"'`/:<()\\,;])(?=["'`<\\]|[,;)]{0,3}(?:\s|$))/dgim
/** A user's address and password, as mail programs and people write them; not a path on a host, or another address. */
const ADDRESS =
  /(?<=[\w+-])@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}(?::|["'`]?[ \t]\/[ \t]["'`]?(?!\S{1,80}@\S{1,60}\.\w))(?!\d{1,5}(?![\w!#$%^&*-]))([^\s"'`/~\\:,;)\]}][^\s"'`/~\\]{2,198}[^\s"'`/~\\:,;)\]}])(?=["'`]|[,;:\])}]{0,3}(?:\s|$))/dgm
/** Short words in a row, as those that restore a wallet. */
const WORD_RUN =
  /(?:^|[^a-z])(?:[a-z]{3,8}["'`]?,?(?: |%20|\+|\s{1,4}["'`]|\s{1,4}\d{1,2}[.):][ \t]?)){11,63}[a-z]{3,8}(?![a-z])/g
const MNEMONIC_NAME =
  /(?:[Mm]nemonic|MNEMONIC|[Ww]allet|WALLET|recover[ \t]|(?<!random)[Ss]eed|SEED|[Pp]hrase|PHRASE)[^\n]{0,80}(?:\n[\s+>|*#/-]{0,8}){0,2}(?:1[.):][ \t]?)?$/
const MAX_NAME_DISTANCE = 120
const PROSE = /^(?:[a-z]+\W+){0,23}(?:the|and|for|with|from|your|are|was|not|but)\b/
/** The bytes of a key as a list of numbers, behind its name; and a pair of keys, which is alone in its file. */
const BYTES =
  /\b((?:0x[\da-f]{1,2}|\d{1,3})(?<=[[{(]\s{0,9}(?:\(byte\))?-?\w{1,4})(?:,\s{0,9}(?:\(byte\))?-?(?:0x[\da-f]{1,2}|\d{1,3})){11,255})(?=,?\s{0,9}[\]})])(?<=(?:(?:key(?!s|board|frame|code)|secret|seed|priv|passw)[^\n"']{0,90}["']?[^\n"']{0,20}[[{(]\s{0,9}(?:\(byte\))?-?|\[(?=(?:[^,\]\n]+,){63}[^,\]\n]+\]))\1)(?<=\b(?:[12]\d\d|0x[89a-f][\da-f])\b[^\]})]{0,2000})/dgim

const hinted = (patterns: Readonly<Record<string, RegExp>>) =>
  Object.entries(patterns).map(([hints, pattern]) => [hints.split("|"), pattern] as const)

/**
 * Each pattern with its hints: whatever it finds contains one of these words, in lower case. Most texts contain none and are
 * not searched further.
 */
const PATTERNS = hinted({
  // a line of a cookie file of curl or a browser, also in a string of JSON
  "\ttrue|\tfalse": /\t(?:TRUE|FALSE)\\{0,4}\t\d{1,12}\\{0,4}\t[^\t\n]{1,100}\t([^\s"]{5,4000})/dg,
  // a header that names its scheme is not prose: its value is a secret unless it is a word; of a digest one field is
  "authorization|digest":
    /\bauthorization["']?\]?[ \t]*[:=][ \t]*["'`]?(?:bearer|basic|token|bot|apikey)[ \t]+((?=[\w.+/=~:-]*[-.+/=~:\d]|\w{16})[\w.+/=~:-]{8,})|\bdigest[ \t]+username=[^\n]{0,400}?\bresponse=\\?"?([0-9a-f]{32,64})/dgi,
  cookie: /\b(?:set-)?cookie[2s]?["']?[ \t]*[:=,][ \t]*\\?["'`]?((?=[^\s=;"'`]{1,100}=[^\s;])[^\r\n"'`\\]{4,8000})/dgi,
  "add-mask|issecret": /(?:::add-mask::|\bissecret=true\])(\S{1,1000})/dg,
  // machine, login, password, a line of curl's and git's password file
  login:
    /\b(?:machine[ \t]+\S{1,200}|default)\s{1,20}login[ \t]+\S{1,200}\s{1,20}(?:account[ \t]+\S{1,200}\s{1,20})?password[ \t]+(\S{1,200})/dg,
  // SQL statements, and a cmdlet of PowerShell
  "identified|securestring":
    /\b(?:identified[ \t]+(?:(?:with|via)[ \t]+\S{1,60}[ \t]+)?(?:by|as)(?:[ \t]+password)?|ConvertTo-SecureString(?:[ \t]+-(?:String|AsPlainText|Force))*)[ \t]+\\{0,8}(?:"([^"\\\n]{3,200})|'((?:[^'\\\n]|''){3,200}))/dgi,
  // without quotes it is a statement only in capitals; otherwise "identified by" is prose
  "identified|convertto": /\b(?:IDENTIFIED[ \t]+BY|ConvertTo-SecureString)[ \t]+(?!-|[$(])([^\s"'\\;]{3,200})/dg,
  // the seed of one-time passwords
  "otp|2fa|mfa|authenticator|seed":
    /\b(?:[THth]?(?:OTP|otp)|2FA|2fa|MFA|mfa|[Aa]uthenticator|[Ss]eed)\b[^\n]{0,30}?[ \t:="']((?=[A-Z]*[2-7])[A-Z2-7]{16,64}|(?=(?:[a-z]*[2-7]){2})[a-z2-7]{16,64})\b/dg,
  // recovery codes for a lost second factor: groups joined by dashes or, on lines of their own, by blanks
  "recovery|backup|scratch|wiederherst":
    /\b(?:recovery|backup|scratch)(?:[ _-]\w{5,14})?[ _-]codes?\b[^\n]{0,40}?:?((?:[ \t\r]{0,3}\n[ \t]{0,12}(?:(?:[-*•]|\d{1,2}[.)])[ \t]{1,4})?(?=[a-z -]{0,40}\d)[a-z\d]{4,16}(?:[- ][a-z\d]{4,10}){0,3}(?=[ \t]{0,8}(?:$|["'`]))){2,20})|\b(?:(?:recovery|backup)[ _-]|wiederherstellungs)codes?\b[^\n]{0,40}?:(?=(?:\s{1,8}[a-z-]{1,20}){0,2}\s{1,8}[a-z-]{0,20}\d)((?:\s{1,6}(?:(?:[-*]|\d{1,2}[.)])[ \t]{1,4})?(?:[a-z\d]{4,10}(?:-[a-z\d]{4,10}){1,3}|(?=[a-z]{0,9}\d)[a-z\d]{6,10}(?![\w-]))){2,20}|[ \t]+(?=[a-z-]{0,10}\d)[a-z\d]{4,10}(?:-[a-z\d]{4,10}){1,3}(?![\w-]))/dgim,
  // a private key or a seed in hexadecimal digits, before or behind what it is called
  "priv|seed|macaroon":
    /\b(?:priv(?:ate)?|seed|macaroon)\b[^\n]{0,60}?\b((?:0x)?[\da-f]{64,400})\b|\b(0x[\da-f]{64})\b(?=[^\n]{0,40}\bpriv)/dgi,
  // private keys of Ethereum accounts, as test networks print them and libraries take them
  "accounts|private keys|) 0x|wallet(|from_key|fromprivatekey|startbroadcast":
    /(?<=\baccounts["']?[ \t]*[:=][ \t]*\[[^\]]{0,800}["'`])((?:0x)?[\da-f]{64})(?=\\{0,8}["'`])|(?<=^\(\d{1,3}\) )(0x[\da-f]{64})$|\b(?:Wallet|from_key|fromPrivateKey|startBroadcast)\([ \t]*\\{0,8}["'`]?((?:0x)?[\da-f]{64})\b/dgim,
  // Google's app passwords: four groups of four letters; and the seeds of one-time passwords, in more of them
  "pass|secret|setup|totp":
    /(?:(?:secret|setup|totp)(?: key)?["']?[ \t]*[:=][ \t]*\\{0,8}["']?((?=[a-z ]*[2-7])[a-z2-7]{4}(?: [a-z2-7]{4}){4,12})|pass\w{0,5}["']?[ \t]*[:=][ \t]*\\{0,8}["']?([a-z]{4}(?: [a-z]{4}){3}|[a-z\d]{4}(?: [a-z\d]{4}){5})|\bpassword\b[^\n:]{0,40}:?[ \t]+(?=(?:[a-z]{4} ){0,3}[b-df-hj-np-tv-z]{4}\b)([a-z]{4}(?: [a-z]{4}){3})(?=[ \t]*(?:$|["'`\\])))\b/dgim,
  // a value letter by letter, as strings of an array or between blanks
  "key|secret|token|pass|pwd":
    /(?=["'])(?<=[[{(]\s{0,9})((?:(["'])[^"'\n]\2,\s{0,9}){5,255}["'][^"'\n]["'])(?<=(?:key(?!s|board|frame|code|word)|secret|token|pass|pwd)[^\n"']{0,60}["']?[^\n"']{0,20}[[{(]\s{0,9}\1)|(?:pass\w{0,8}|pwd|secret|token|key)["']?[ \t]*[:=][ \t]*((?:[!-~] ){7,100}[!-~])(?![!-~])/dgi,
  // a code that is sent to a person, a PIN, and the numbers of a card or a person, as people write them
  "code|código|pin |pin:|puk |puk:|otp |otp:|tan |tan:|cvv|cvc|geheimzahl|einmal|card|credit|visa|amex|kartennummer|ssn|social security|é":
    /(?:code(?<=\b(?:verification|backup|recovery|one-time|security|login|sign-in|access|2fa|otp|door|gate|alarm|unlock|pin|secret)[ _-](?:pass)?code)|code(?=[ \t](?:lautet|pin|secret|de[ \t]v))(?:[ \t](?:pin|secret|de[ \t]v[eé]rif[a-z]{4,9}))?|código[ \t]de[ \t]verif[a-zó]{4,9}|\b(?:pin|puk|otp|tan|cv[vc]2?|geheimzahl|sicherheitscode|einmal[a-z]{4,10}))(?:[ \t]+(?:is|ist|lautet|est|es):?|[ \t]?[:：]|(?<!(?<!pin[ _-])code)(?=[ \t]+\d)|[ \t]+(?=\d{6}))[ \t]*["'`*]{0,2}(\d{4,8}|(?<=\bcv[vc]2?\W[^\n\d]{0,12})\d{3})(?![\w-]|\.\d)|(\d{4,8})(?<=(?<![\w.-]|[\w.]-)(?:[A-Z]-)?\2)[ \t]+is[ \t]+your[ \t]+(?:[\w.]{1,30}[ \t]+){0,2}(?:verification|confirmation|one-time|security|login|sign-in|access|2fa|otp)[ _-](?:pass)?code\b|\b(?:pin|otp)[ \t](?:(?:[^\n.:]|\.(?=\w)){0,40}?[ \t])?is:?[ \t]+["'`*]{0,2}(\d{4,8})(?![\w-]|\.\d)|\bcode[ \t]+(\d{4,8})[ \t]+(?:to|for)[ \t]+(?:sign|log|verif|confirm)|\b(?:card|credit|kartennummer|visa|mastercard|amex)\b[^\n\d]{0,40}((?:\d[ -]?){13,18}\d)(?![\w.-])|\b(?:ssn|social security)\b[^\n\d]{0,30}(\d{3}-\d\d-\d{4})\b/dgi,
  // a code in an address that signs in who opens it
  "code=":
    /[?&]code=([\da-f]{20,64}(?=&state=)|(?=[^\s&]{0,400}\d)(?=[^\s&]{0,400}[a-z])(?=[^\s&]{0,400}[A-Z])[\w%.~-]{16,400})/dg,
  // what a phone reads from a picture to join a network, and a network's key as people write it
  "wifi|wi-fi":
    /\bWIFI:[^\n]{0,100}?\bP:((?:[^;\\\n]|\\.){3,100});|\bwi-?fi\b[^\n]{0,80}?\bkey["']?[ \t]*(?::|=|is|(?=[ ]\S*\d))[ \t]*["']?([^\s"']{8,63})/dgi,
  // a password behind the name of its hash, in a file of users and in LDAP
  "{plain|{clear|{crypt|{ssha|{sha|{smd5|{md5":
    /\{(?:PLAIN|CLEAR(?:TEXT)?|CRYPT|S?SHA\d{0,3}|S?MD5)(?:\.\w{1,6})?\}([^\s:"'`,;{}]{4,400})/dgi,
  // the key of a service, after the id of an application
  "client(|search(|api(|hub(|lab(|.start(|.init(":
    /(?:[Cc]lient|[Ss]earch|[Aa]pi|[Hh]ub|[Ll]ab|\.(?:start|init))\(\s?(?:\\{0,8}["'][\w-]{3,40}\\{0,8}["'], ?)?\\{0,8}["']([\da-f]{32,40})\\{0,8}["']/dg,
  // the second argument of functions that sign or encrypt
  "jwt.|hmac|cipheriv(|pbkdf2|pgp_sym":
    /\b(?:jwt\.(?:sign|verify|encode|decode)|createHmac|create(?:Dec|C)ipheriv|hmac\.[nN]ew|pbkdf2\w{0,5}|pgp_sym_\w{2,3}crypt)\((?:\{[^{}\n]{0,200}\}|[^,\n"']{0,80}(?:["'][^"'\n]{1,80}["'])?),[ \t]*(?:key=)?(?:b|\[\]byte\(|Buffer\.from\()?\\{0,8}["']([^"'\\\n]{6,200})\\{0,8}["']/dg,
  // the first argument of functions that sign, or that hash a password
  "hmac|hash::make|bcrypt|argon2|cookie|pass|scrypt|keyspec|securitykey|aes.new(|tochararray":
    /(?:\bhmac\.new|\bcrypt|\b(?:bcrypt|argon2)\w{0,3}\.(?:hash|compare|checkpw)\w{0,4}|\bBCrypt::Password\.create|\b(?:Hash::make|generate_password_hash|make_password|password_hash)|\bhmacShaKeyFor|\bcookieParser|\bscrypt(?:Sync)?|SecretKeySpec|SymmetricSecurityKey|AES\.new)\([ \t]*(?:key=)?(?:[\w.]{1,40}\()?[bru]{0,2}\\{0,8}["']([^"'\\\n]{6,200})\\{0,8}["']|["']([^"'\\\n]{4,200})\\{0,8}["']\.toCharArray\(\)/dg,
  // `PASSWORD 'x'` and `PASSWORD('x')` of a statement; in prose as well
  password:
    /\bpassword(?:[ \t]{0,20}\([ \t]{0,20}|[ \t]{1,20})(?:FROM[ \t]+'[^'\n]{0,200}'[ \t]+TO[ \t]+)?\\{0,8}'([^'\\\n]{3,200})'/dgi,
  // a user and a password before a host, as Oracle's drivers and programs take it
  "oracle|sqlplus|userid=|conn |.connect(":
    /\b(?:jdbc:oracle:\w+:|sqlplus[ \t]+(?:-\w{1,8}[ \t]+){0,3}|userid=|(?<=(?:^|[>\n"'])[ \t]{0,4})conn[ \t]+(?=[a-z][\w$#]*\/[^\s/]+(?:\s|$))|\.connect\([ \t]*\\{0,8}["'])[\w$#]{1,60}\/([^\s"'@]{3,200}(?:@(?=[^\s@]*@)[^\s"'@]*)*)(?=@|[\s"']|$)/dgi,
  // a value of Windows's registry, and the key of a wireless network, as Windows shows them
  "reg_|key content":
    /(?:(?:pass|pwd|secret|token|key)\w{0,80}[ \t]+REG_\w{2,10}[ \t]+|\bKey Content[ \t]*:[ \t]*)(\S[^\n]{2,300}?)[ \t]*$/dgim,
  // a secret's value as an argument of a program that stores it, or as the text it is given
  "<<<|secret|securestring":
    /\b(?:secret|token|password|passwd|passphrase|login|keyring|keychain|kinit|cryptsetup|pass|vault|credential|ssh-add|sudo[ \t]+-S|env[ \t]+add)[^\n]{0,200}<<<[ \t]*\\{0,8}(?:"([^"\n]{3,400})(?:"|$)|'([^'\n]{3,400})(?:'|$)|([^\s"'\\]{3,400}))|\bsecrets?[ \t]+(?:set|create|put|add|update)\b[^\n]{0,200}?[ \t](?:-b[ \t=]*|(?:--body|--value|--secret-string|--data|-v)[ \t=]+)\\{0,8}["']?((?<=")[^"\n]{3,400}|[^\s"'\\]{3,400})|\bsecrets?[ \t:]+(?:set|import|put|add)\b[^\n]{0,80}?[ \t][A-Z][A-Z0-9_]{1,60}=\\{0,8}["']?([^\s"'\\]{3,400})|\bSecureString(?:\t|(?:[ \t]+--name[ \t=]+\S{1,200})?[ \t]+--value[ \t=]+)\\{0,8}["']?([^\s"'\\]{3,400})/dgi,
  // the argument after the host and the user in calls that connect to a host, and after the client's id in a Rails sign-in
  "mysql|pdo|sequelize|minio|ftp_|imap_|ldap_|oci_|getconnection|dbi->|create_user|create_super|plainauth|omniauth|provider|.connect(|:connect(|database(":
    /(?:\bmysqli?_real_connect[ \t]*\([^,\n]{1,100},[^,\n]{1,100}|\b(?:(?:mysqli|PDO|Sequelize|Minio)|PDO->__construct|(?:pymysql|MySQLdb)\.connect|mysqli?_p?connect|ftp_login|imap_open|ldap_bind|oci_connect|getConnection|DBI->connect|create_(?:super)?user|PlainAuth)[ \t]*\(\s{0,40}[^,\n]{1,200}|\b(?:omniauth|provider)[ \t(]+:\w{1,40}(?=,[ \t]*["'][^"'\n]{0,100}\d)|\.connect\([^,\n]{1,100},[ \t]*\d{2,5}(?=,[ \t]*\\{0,8}["'])|(?:[.:]connect|\bdatabase)\([ \t]*["'][^"'\n]{1,100}["'](?=,[ \t]*["'])),\s{0,40}(?:["'][^"'\n]{1,100}["']|[^,\n]{1,100}),\s{0,40}\\{0,8}(?:"([^"\\\n]{3,200})|'([^'\\\n]{3,200}))/dgi,
  // the second argument of functions that sign in a user, after the user's name
  "login|log_in|authenticate|basic|auth=|auth |.auth(|simple_bind|credential|authprovider|authtokens|_pw_set|usernamepass|wifi.begin|certificate":
    /(?:(?:log_?in|authenticate|basic_?auth|\.auth|simple_bind\w{0,2}|PSCredential|NetworkCredential(?:\]::new)?|Auth(?:Provider|Tokens\.basic)|UsernamePassword\w{0,40}|WiFi\.begin|username_pw_set|X509Certificate2?)[( ]|\bauth[ \t]?=[ \t]?\()[ \t]*(?:\\{0,8}["'][^"'\\\n]{1,100}\\{0,8}["']|(?<=WiFi\.begin\()\w{1,40}),[ \t]*(?:Some\(|@)?\\{0,8}(?:"([^"\\\n]{3,200})|'([^'\\\n]{3,200}))/dgi,
  // commands of Redis, of mail and of chat
  'auth |"auth"|identify|login':
    /(?:^|[>:\]]|NickServ|HELLO \d)[ \t]*(?:b["'])?(?:"AUTH"[ \t]+"(?:[^"\n]{1,40}"[ \t]+")?([^"\n]{3,400})"|(?:AUTH[ \t]+PLAIN[ \t]+\S{1,80}|(?:AUTH|(?<=\d> ?)auth|IDENTIFY|(?<=NickServ[ \t])identify)(?:[ \t]+[\w.-]{1,40})?|\w{1,6}[ \t]+LOGIN[ \t]+\S{1,80})[ \t]+(?!LOGIN|PLAIN|CRAM|NTLM|XOAUTH)\\?"?([^\s"'\\]{4,400})(?=\\?["']{0,2}[ \t]*(?:$|\\)))/dgm,
  // the same of mail and file servers; a file or an identifier behind it is a test that passed
  pass: /(?:^(?:-*>|C:)?|Request:|")[ \t]*(?:PASS|Pass(?=[ \t]+\S*[\d!#$%*]))[ \t]+(?!\S*(?:\/|\.\w{1,4}(?!\S))|(?:Test\w*|tests?)(?!\S)|\w*_)([^\s"'\\]{4,400})(?=[ \t]*(?:$|\\(?![A-Z])))/dgm,
  // a user and a password that are encoded for a header
  "base64|btoa(|b64encode(|encode64(|encodetostring(":
    /(?:\b(?:btoa|b64encode|\w{0,12}encode64|base64_encode)\(|\bEncodeToString\(\[\]byte\(|\bBuffer\.from\((?=[^\n)]{0,200}\)\.toString\([ \t]*["']base64))[ \t]*[bru]{0,2}\\{0,8}["'`](?!(?:data|https?|file):)[\w.@+-]{1,60}:([^\s"'`\\]{4,100})\\{0,8}["'`]|\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?["']?[\w.@+-]{1,60}:(?!\d+["']?[ \t])([^\s"'|\\]{4,100})["']?[ \t]*\|[ \t]*(?:openssl[ \t]+)?base64\b/dg,
  // a user and a password for a host of Ruby gems, as Bundler keeps them
  bundle:
    /\b(?:BUNDLE_\w{2,60}__\w{2,60}["']?[ \t]*[:=]|bundle config(?:[ \t]+set)?(?:[ \t]+--\w+)*[ \t]+[^\s.]{1,60}\.\S{2,60})[ \t]*\\{0,8}["']?[\w.@-]{1,60}:([^\s"'/\\]{6,200})/dg,
  // users and their new passwords in a file of cloud-init
  chpasswd:
    /\bchpasswd:\s{1,20}(?:expire:[ \t]*\w{1,5}\s{1,20})?list:[ \t]*\|?((?:\s{1,20}(?:- )?[\w.-]{1,40}:\S{3,200}){1,20})/dg,
  // a rule of Redis's list of users, and options of a broker that contain a user's name
  "on >|login":
    /(?:\buser|SETUSER)[ \t]+\S{1,60}[ \t]+on[ \t]+>(\S{3,400})|\buser_\w{1,60}[ \t]*=[ \t]*\\{0,8}["']([^"'\\\n]{3,200})/dg,
  // keys and names of communities that routers share, and a user of their monitoring
  "snmp-server|isakmp|createuser|tacacs|radius":
    /\b(?:snmp-server[ \t]+community|(?:tacacs|radius)[^\n]{0,80}[ \t]key(?:[ \t]+\d)?|crypto[ \t]+isakmp[ \t]+key(?:[ \t]+\d)?|createUser[ \t]+\S{1,60}[ \t]+(?:MD5|SHA\S{0,4})|(?<=createUser[ \t][^\n]{0,200}[ \t])(?:AES|DES)\S{0,4})[ \t]+["']?([^\s"']{3,200})/dg,
})

/** In prose and code, words, file names and versions may follow these as well; those are left alone. */
const AMBIGUOUS_PATTERNS = hinted({
  authorization: AUTHORIZATION,
  "bearer|basic|negotiate|apikey|token": SCHEME,
  // a value before its name: `"value" as the token`
  "pass|secret|token|key|pin":
    /(?<=["'`])([^\n"'`=(){}<>/]{6,200})["'`][ \t]+(?:as|is|into|to[ \t]be)[ \t]+(?:(?:the|your|our|my|a|an|its|new|admin|root|api)[ \t]+){0,4}(?:password|passphrase|secret|token|key|pin)\b/dgi,
  // a token given to curl as the user, with an empty password
  curl: /\bcurl[ \t][^\n|;]{0,300}?(?:-u|--user)[ \t=]*["']?([\w-]{16,200}):(?=["'\s]|$)/dg,
  "creden|creds|identifiant|zugang|anmeld|acceso|é|melde |connecte|wifi|wi-fi|wlan|login|log in|log-in|logged|sign in|sign-in|signin|signed|userp|user_pass|basic|stats":
    LOGIN_PAIR,
  "admin /|root /|administrator /|admin:|administrator:|root:": ADMIN_PAIR,
  // a text that is encoded to be stored
  base64:
    /\b(?:echo|printf)[ \t]+-n[ \t]+["']?([^\n"'|$`:]{3,400}[^\s"'|$`:])["']?[ \t]*\|[ \t]*(?:openssl[ \t]+)?base64\b(?![ \t]+-(?:d|D|-d))/dg,
  // a passphrase of words without quotes
  phrase:
    /\b(?:[Pp]ass[ _-]?phrase|PASSPHRASE|[Pp]hrase secr[eè]te)["']?(?:[ \t]*[:=]|[ \t]+(?:is|ist|est))[ \t]*["']?([a-z]{3,12}(?:[ -][a-z]{3,12}){2,11})(?=["'.<\\]|[ \t]*[│|]?$)/dgm,
})

const MNEMONIC_HINTS = ["mnemonic", "seed", "phrase", "wallet", "recover "]

/** Stands for words of other languages, which would make the search for hints half as slow again. */
const FOREIGN = /[èéóдア账계]/i
/** The longer ones first, since one pass finds the first that fits. */
export const HINTS = [
  ...new Set([MNEMONIC_HINTS, ...[...PATTERNS, ...AMBIGUOUS_PATTERNS].map(([hints]) => hints)].flat()),
]
  .filter((hint) => hint !== "é")
  .sort((one, other) => other.length - one.length)
const ANY_HINT = new RegExp(HINTS.join("|").replace(/[.()]/g, "\\$&").replaceAll(" ", "\\s+"), "gi")
/** A text with `user_pass` also has `pass`, which one pass does not find. */
const WITHIN = new Map(HINTS.map((hint) => [hint, HINTS.filter((other) => hint.includes(other))]))

/** Which hints a text has, found in one pass: looking for each by itself takes longer than all the patterns together. */
function hintsIn(text: string): ReadonlySet<string> {
  const found = [...new Set(text.match(ANY_HINT))]
  const hints = found.flatMap((hint) => WITHIN.get(hint.toLowerCase().replace(/(?!^)\s+/, " ")) ?? [])
  return new Set(FOREIGN.test(text) ? [...hints, "é"] : hints)
}

/**
 * The 12 to 24 words that restore a wallet, below or behind what they are called. Runs of short words are rarer than the names,
 * so they are looked for first.
 */
function* mnemonicsIn(text: string): Generator<[from: number, to: number]> {
  for (const { index, 0: run } of text.matchAll(WORD_RUN)) {
    const to = index + run.length
    if (/^ [a-z]/.test(text.slice(to, to + 2))) continue
    const starts = [...run.matchAll(/[a-z]+/g)].map((word) => index + word.index)
    const from = starts
      .slice(-24, -11)
      .find(
        (start) =>
          MNEMONIC_NAME.test(charsBefore(text, start, MAX_NAME_DISTANCE)) &&
          !PROSE.test(text.slice(start, to + MAX_NAME_DISTANCE)),
      )
    if (from !== undefined) yield [from, to]
  }
}

export const findInHeaders: Find = (text, report) => {
  const found = hintsIn(text)
  const take = valueReporter(text, report)
  const has = (hint: string) => found.has(hint)
  if (text.includes("@"))
    reportGroups(text, ADDRESS, take, (value) => {
      return !/\.\w{1,5}$|^[A-Za-z]+,[A-Za-z,]+$/.test(value) && (!isName(value) || isChosen(value))
    })
  if (/:(?:\d{4,5}|\*):/.test(text)) reportGroups(text, PGPASS, take)
  reportGroups(text, BYTES, take)
  if (MNEMONIC_HINTS.some(has)) for (const span of mnemonicsIn(text)) take(...span)
  for (const [hints, pattern] of PATTERNS) if (hints.some(has)) reportGroups(text, pattern, take)
  for (const [hints, pattern] of AMBIGUOUS_PATTERNS) {
    const isSecret = (value: string) =>
      ((/\d|[=+~]/.test(value) || isJumbled(value)) && (value.length >= 12 || !isName(value))) ||
      ((pattern === LOGIN_PAIR || pattern === ADMIN_PAIR) && /[A-Za-z]{3}\W?\d\d/.test(value)) ||
      (pattern !== SCHEME && isChosen(value, pattern !== AUTHORIZATION))
    if (hints.some(has)) reportGroups(text, pattern, take, isSecret)
  }
}

/** Programs that take a password behind a flag of one letter, and what comes before the password. */
const FLAGS: readonly (readonly [program: RegExp, flag: RegExp])[] = [
  // after the user and a colon; two numbers are a user id and a group id
  [
    /\b(?:curl|wget|https?|xh|lftp|ab)(?:\b|_)/,
    /[ \t](?:-\w{0,4}[uU]|--(?:proxy-)?user)[ \t=]*\\{0,8}["']?[^\s:"']{0,100}:(?!\d{1,5}(?:\s|$))/g,
  ],
  [/./, /[ \t](?:-[uAcE]|--(?:user|cert))[ =]+\\{0,8}["']?[\w.@-]{1,60}:(?=[^\s:/"']{6})(?!\d+\b)(?=\S{0,40}\d)/g],
  [/(?<![\w/.-])(?:https?|xh)[ \t]/, /[ \t]-a[ \t]*\\{0,8}["']?[\w.@-]{1,100}:(?=\S)/g],
  [/\b(?:mysql\w*|mariadb[\w-]*)\b/, /[ \t]-p(?=\S{2})/g],
  [
    /\b(?:sshpass|mongo\w*|supabase|hydra|psexec|useradd|usermod|(?:docker|podman|helm|nerdctl|skopeo|az|cf)\b[^\n]{0,60}\blogin)\b/i,
    /[ \t]-p[ \t=]*(?=[^\s:=-])/g,
  ],
  [/\b(?:redis-cli|keydb-cli)\b/, /[ \t]-a[ \t]+/g],
  [/\bldap\w+\b|\bsecurity[ \t]+add-/, /[ \t]-w[ \t]*/g],
  [/\bldappasswd\b/, /[ \t]-[as][ \t]+/g],
  [/\bsecurity[ \t]+(?:import|\w+-keychain)\b/, /[ \t]-[pP][ \t]+/g],
  [/\b(?:swaks|sendemail)\b/i, /[ \t]-[ax]p[ \t]+/g],
  [/\bcomposer\b|\bcodecov\b/, /(?:\b(?:git(?:hub|lab)-(?:oauth|token)|bearer)\.\S{1,60}|[ \t]-t)[ \t]+/g],
  [/\bopenssl[ \t]+(?:dgst|mac)\b/, /[ \t]-hmac[ \t]+/g],
  // the last of several words
  [
    /\b(?:wpa_passphrase|networksetup|http-basic\.\S{1,60})\b/,
    /(?:\bwpa_passphrase|-setairportnetwork[ \t]+\S{1,60}|\bhttp-basic\.\S{1,60})[ \t]+(?:"[^"\n]{1,100}"|'[^'\n]{1,100}'|[^\s"']{1,100})[ \t]+/g,
  ],
  [/\bmc[ \t]+alias\b/, /\balias[ \t]+set(?:[ \t]+\S{1,200}){3}[ \t]+/g],
  [/\brclone[ \t]+config\b/, /[ \t]pass(?:word)?[ \t=]+/g],
  [/\b(?:zip|unzip|7z[az]?|rar|unrar)\b/, /[ \t]-h?[pP][ \t]*(?=\S{4})/g],
  [/\b(?:openssl|keytool|cmdkey)\b/i, /\bpass:/gi],
  [/\b(?:openssl[ \t]+enc|nuget[ \t]+push)\b/, /[ \t]-[kK][ \t]+/g],
  [/\b(?:ipmitool|mosquitto_\w+|snmp\w+)\b/, /[ \t]-[PAX][ \t]+/g],
  [/\bsnmp\w+\b/, /[ \t]-c[ \t]*/g],
  // cookies, and not the name of a file that has them
  [/\bcurl\b/, /[ \t](?:-b|--cookie)[ \t=]*(?=\\{0,8}["']?[^\s"'=]{1,100}=)/g],
  [/\bx?freerdp\b/, /[ \t]\/p:/g],
  [/\b(?:pdf\w+|plink|pscp|psftp)\b/, /[ \t]-[ou]?pw[ \t]+/g],
  [/\blftp\b|(?<![\w/.-])open\b/, /[ \t]-u[ \t]*[^\s,]{1,80},/g],
  [/\b(?:sqlplus|rman|expdp|impdp)\b/, /\b(?:sqlplus|rman|expdp|impdp)[ \t]+["']?[\w$#]{1,40}\//g],
  [/./, /\b(?:add_user|change_password|user:password|net[ \t]+user)[ \t]+[^\s|;&]{1,80}[ \t]+/g],
  [
    /\b(?:bw[ \t]+unlock|rclone[ \t]+obscure|openssl[ \t]+passwd|(?:cargo|vault)[ \t]+login|(?:snyk|asciinema)[ \t]+auth)\b/,
    /\b(?:unlock|obscure|login|auth|passwd)(?:[ \t]+--?\w{1,10})*[ \t]+(?=[^\s-])/g,
  ],
  [/\b(?:smbclient|rpcclient|net|wbinfo)\b/, /[ \t]-[aU][ \t]*\\{0,8}["']?[^\s%"']{1,80}%/g],
  [
    /\b(?:ht|mosquitto_)passwd\b/,
    /[ \t]-\w{0,5}b\w{0,5}(?:[ \t]+-\w+|[ \t]+\d+)*[ \t]+\S{1,200}(?:[ \t]+\S{1,100})?[ \t]+(?=(?:"[^"\n]{1,400}"|'[^'\n]{1,400}'|\S{1,400})[ \t]*(?:$|[\n;|&"\\]))/gm,
  ],
  [/\bnet[ \t]+use\b/i, /[ \t](?:\\\\|%)\S{1,200}(?:[ \t]+\/user:\S{1,80})?[ \t]+(?=[^\s/])/gi],
  // of any program that was given a user before
  [/[ \t](?:-[uU]|--?user(?:name)?)[ \t=:]*\S/, /[ \t]-[pPwK][ \t:]+(?=[^\s\d/.-](?![\w.-]*:\d)\S{5}|\d+[^\d\s.:/])/g],
  [/\bssh-keygen\b/, /[ \t]-[NP][ \t]+/g],
  [/\b(?:bcp|sqlcmd|osql|isql)\b/, /[ \t]-P[ \t]*/g],
  [/\b(?:signtool|schtasks|certutil)\b/, /[ \t](?:\/r?p|-p)[ \t]+/g],
]
/** What every flag above contains. Looking for each of them makes a line four times as expensive. */
const FLAG_HINT =
  /(?:[ \t]\\*["']?|,\\*["']|a1=")(?:--?[abcpwkKENPAXUu]|-[hx][pP]|\/r?p\b|-\w{0,5}[buU]|\/p:|\\\\)|[Pp][Aa][Ss][Ss]:|unlock|obscure|passwd|\b(?:cargo|vault|snyk|asciinema|alias|rclone|[Nn][Ee][Tt])\W{1,6}(?:login|auth|set|config|[Uu][Ss][Ee])|add_user|change_password|user:password|wpa_passphrase|-setairport|http-basic|composer|codecov|-[ou]pw|-hmac|\b(?:sqlplus|rman|expdp|impdp)/g
/** A password piped into a program that reads it from its standard input. */
const PIPED =
  /\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?(?:(?:%s(?:\\n)?|"%s(?:\\n)?"|'%s(?:\\n)?')[ \t]+)?\\{0,8}["']?(?:[\w.-]{1,60}:)?((?<=')(?:[^'\n]|'\\''){3,400}|(?<=")[^"\n]{3,400}|[^\s"'|\\]{3,400}?)\\{0,8}["']?(?:;[ \t]{0,8}(?:echo|printf)[ \t][^\n|]{3,400})?(?:[ \t]{0,8}\))?[ \t]{0,8}(?=\|)(?:\|[^\n|]{0,200})?(?:--?(?:password-)?stdin\b|\|[ \t]*(?:sudo[ \t]+)?(?:smb|vnc)?passwd\b|\bchpasswd\b|--passphrase-fd\b|\bcryptsetup\b|-pass[ \t]+stdin\b|\bsudo[ \t]+-S\b|\bkinit\b|\bsecrets?[ \t]+(?:set|put|add|create|versions[ \t]+add)\b|\benv[ \t]+add\b|--with-token\b)|--?password-stdin[ \t]+<<<[ \t]*\\{0,8}["']?([^\s"'\\]{3,400})/dg
const QUOTED_USER = /\\{0,8}["'][^"']+$/
const MAX_COMMAND_CHARS = 400

export const findInCommands: Find = (text, report) => {
  const take = valueReporter(text, report)
  if (/stdin|passwd|passphrase-fd|cryptsetup|sudo|kinit|secret|env[ \t]+add|with-token/.test(text))
    reportGroups(text, PIPED, take)
  FLAG_HINT.lastIndex = 0
  for (let hit = FLAG_HINT.exec(text); hit; hit = FLAG_HINT.exec(text)) {
    const from = text.lastIndexOf("\n", hit.index) + 1
    const end = text.indexOf("\n", hit.index)
    const line = text.slice(from, end < 0 ? text.length : end)
    const command = /["'](?:-|,[ \t]*["'])/.test(line)
      ? line.replace(/["'](?:,[ \t]*|[ \t]+(?:a\d{1,2}=)?)["']|["'](?=-)/g, (found) => " ".repeat(found.length))
      : line
    for (const [program, flag] of FLAGS)
      for (const { index, 0: before } of command.matchAll(flag)) {
        const at = index + before.length
        const isString = command !== line && /["']/.test(line[at - 1] ?? "")
        // a flag of the command before it, in a pipe or a list, means something else
        const own = charsBefore(command, at, MAX_COMMAND_CHARS).split(/[\n|;&]/)
        if (!program.test(own.at(-1) ?? "")) continue
        // the user and the password may be one string: `'admin:two words'`
        const pair = before.search(QUOTED_USER)
        const value = (pair < 0 ? undefined : valueAt(line, index + pair)) ?? valueAt(line, isString ? at - 1 : at)
        if (value) take(from + Math.max(value.from, pair < 0 ? 0 : at), from + value.to)
      }
    FLAG_HINT.lastIndex = from + line.length
  }
}
