// Tokens that their prefix gives away. These are all the formats that secretlint's recommended rules know, and more of
// them, in every length that occurs: older and newer ones, and cut off at the end of a text.

import type { Find } from "./value.ts"

const WORD = "[A-Za-z0-9_-]"

/** Prefix, characters of the rest, and their minimal number. Formats that need a narrower pattern are in SPELT_OUT. */
const FORMATS: readonly (readonly [prefix: string, rest: string, minLength: number])[] = [
  ["sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?", WORD, 16], // OpenAI, Anthropic, OpenRouter and their like
  ["(?:gh[pousr]_|github_pat_)", "\\w", 16],
  ["gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent|imt|oas)-", "[\\w.-]", 16],
  ["(?:xox[abcdeoprs]|xapp|xoxe\\.xox[bp])-", "[A-Za-z0-9-]", 10], // Slack
  ["(?:(?:sk|rk|pk)_(?:live|test|sbox)_|EAACEdEose0cBA)", "[A-Za-z0-9]", 10], // Stripe, Facebook
  ["tskey-[a-z]{2,12}-", WORD, 12], // Tailscale
  // Google, Vault, Square, Perplexity, xAI, Postman, Contentful, Brevo, Browserbase
  [
    "(?:GOCSPX-|ya29\\.|hv[sbr]\\.|sq0(?:csp|atp)-|(?:pplx|xai|PMAK|CFPAT|xkeysib|xsmtpsib)-|bb_(?:live|test)_)",
    WORD,
    20,
  ],
  ["(?:AIza|1//0|pypi-)", WORD, 30], // Google, PyPI
  ["(?:whsec|vc[piark])_", "[A-Za-z0-9+/=]", 20], // Stripe, Vercel
  ["(?:npm|hf|r8|ph[cx]|shp(?:at|ca|pa|ss|tka))_", "[A-Za-z0-9]", 30], // Hugging Face, Replicate, PostHog, Shopify
  ["ntn_", "[A-Za-z0-9]", 40], // Notion
  ["(?:rubygems_|do[por]_v1_|pul-)", "[a-f0-9]", 40], // DigitalOcean, Pulumi
  ["dapi", "[A-Fa-f0-9]", 32], // Databricks
  ["(?:SG\\.|dp\\.(?:pt|st|ct|sa|scim|audit)\\.|snyk_uat\\.|pat\\.(?=[\\w-]{22}\\.))", "[\\w.-]", 20], // SendGrid, Doppler, Snyk, Harness
  ["(?:AT[AC]TT3|sntry[su]_)", "[\\w=+/.-]", 30], // Atlassian, Sentry
  ["(?:NR(?:AK|II|JS|RA)-|dt0c01\\.|AGE-SECRET-KEY-1)", "[\\w.-]", 19], // New Relic, Dynatrace
  [
    "(?:sbp|sq[apu]|sgp|bkua|lsv2_(?:pt|sk)|e2b|dtn|crsr|(?:shippo_)?(?:live|test)|[ps]k|key|CLOJARS|bkct|zpka|api|pat|tok|token|secret|prod|packagist_(?:ort|uat))_",
    "[a-f0-9_]",
    30,
  ],
  ["(?:fc|fio-u|pat-(?:na|eu)\\d|signkey-[a-z]{4,8})-", "[a-f0-9-]", 32], // Firecrawl, Frame.io, HubSpot, Inngest
  ["(?:gsk|nfp|figd|dckr_pat|pscale_tkn|pscale_pw|lin_api|lin_oauth|cfut|cfat|glsa|glc)_", "[\\w+/=.-]", 20],
  ["(?:HRKU|APP_USR|FLWSECK(?:_TEST)?)-", "[\\w-]", 30], // Heroku, Mercado Pago, Flutterwave
  ["mlsn\\.", "[a-f0-9]", 40], // MailerSend
  ["(?:fm[12]_|ops_ey|FlyV1 fm)", "[\\w+/=,]", 40], // Fly, 1Password
  ["v1\\.0-[a-f0-9]{24}-", "[a-f0-9]", 100], // Cloudflare
  ["(?:pat|key)[A-Za-z0-9]{14}\\.", "[a-f0-9]", 60], // Airtable
  ["[A-Za-z0-9]{14}\\.atlasv1\\.", WORD, 40], // Terraform Cloud
  ["\\d{8,10}:AA", WORD, 30], // Telegram
  ["[MNO][A-Za-z0-9]{23,27}\\.[\\w-]{6}\\.", WORD, 27], // Discord
  ["[A-Za-z0-9_~.]{3}\\dQ~", "[\\w~.-]", 30], // Entra
]
const SPELT_OUT = [
  "(?:(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}|LTAI[A-Za-z0-9]{12,24})",
  "[0-9a-f]{32}-(?:us\\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![\\w-])", // Mailchimp, Mailgun
  "(?:key-|SK)[0-9a-f]{32}|SEC[0-9a-f]{64}", // Mailgun, Twilio, DingTalk
  // a JWT, and one whose other parts are cut off
  "eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w.-]*)?",
  "eyJ[\\w-]{24,}",
  "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", // Resend
  "p8e-[a-z0-9]{32}", // Adobe
  "access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", // Plaid
  "[0-9a-f]{32}:[0-9a-f]{32}(?=:::)|(?<=::[\\w.-]{1,40}:)[0-9a-f]{16}:[0-9a-f]{32}:[0-9a-f]{40,}", // hashes of Windows
  "[12]/(?:\\d{16}/)?\\d{16}:[0-9a-f]{32}", // Asana
  "st\\.[0-9a-f-]{24,36}\\.[0-9a-f]{32}\\.[0-9a-f]{32}", // Infisical
  "(?<=[\\w*]:[\\w*-]{1,30}\\.)[0-9a-f]{56,64}(?!\\w)", // Unleash
  "pk_\\d{6,10}_[A-Z0-9]{20,}|chpt_[a-f0-9]{11,}", // ClickUp, Chromatic
  "access_token\\$\\w{7,10}\\$\\w{16}\\$[0-9a-f]{32}", // PayPal
  "A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){5}", // 1Password
  "(?=[\\d-]{0,28}[A-Z])(?=[A-Z-]{0,28}\\d)[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![\\w-])", // Windows
  "(?<=\\bAC[0-9a-f]{32}[\"':, \\\\]{1,8})[0-9a-f]{32}", // Twilio, after the account
  "(?:sdk|mob|api|xa[ap]t|ctx7sk|RGAPI)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", // LaunchDarkly, Axiom, Context7, Riot
  "(?:\\$(?:[156y]|2[abxy]|apr1|argon2\\w{1,2}|scrypt|pbkdf2[\\w-]{0,12})\\$|grub\\.pbkdf2\\.)[\\w./$=,+-]{20,}", // password hashes
]

/**
 * Where a token may begin: not within a word, except after a percent escape. Prefixes that do not occur by chance may
 * follow a digit. An OpenAI key, which has a marker in its middle, may follow anything.
 */
const START = [
  "(?<![A-Za-z0-9])",
  "(?<=\\d)(?=gh[pousr]_|github_pat_|gl(?:pat-|c_|sa_)|sk-ant-|xox[abopr]-|npm_|ntn_|vc[piark]_|hf_|SG\\.|shp|hv[sbr]\\.|dapi|lin_|dckr_|figd_|gsk_|ops_)",
  "(?=sk-[\\w-]{20,90}T3BlbkFJ)",
].join("|")
const CUT_OFF =
  "(?:gh[pousr]_|github_pat_|glpat-|xox[bp]-|sk-(?:ant|proj)-|[srp]k_live_|npm_|AIza|hf_|SG\\.)[\\w.-]{4,100}(?:…|$)"

const TOKENS = new RegExp(
  `(?:${START})(?:${[
    ...FORMATS.map(([prefix, rest, minLength]) => `${prefix}(?:${rest}{${minLength},})`),
    ...SPELT_OUT,
    CUT_OFF,
  ].join("|")})`,
  "g",
)
export const findTokens: Find = (text, report) => {
  // an example, and a class of CSS
  for (const { index, 0: token } of text.matchAll(TOKENS))
    if (!/[-_][xX*]{8,}$|^sk(?:-[a-z]{2,12})+$/.test(token)) report(index, index + token.replace(/…$/, "").length)
}
