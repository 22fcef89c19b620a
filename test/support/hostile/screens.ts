// What a terminal acts on, and what makes a text look other than it is.

import { type Input, spellings } from "./input.ts"

const escapes: Readonly<Record<string, string>> = {
  link: "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
  clipboard: "\u001b]52;c;cm0gLXJmIC8K\u0007",
  title: "\u001b]0;rm -rf /\u0007",
  "title-query": "\u001b[21t",
  notification: "\u001b]9;all tests passed\u0007",
  "iterm-file": "\u001b]1337;File=inline=1:AAAA\u0007",
  clear: "\u001b[2J\u001b[H",
  "cursor-up": "fails\u001b[1A\u001b[2Kpasses",
  colours: "\u001b[32mPASS\u001b[0m",
  conceal: "\u001b[8mhidden\u001b[28m",
  "alternate-screen": "\u001b[?1049h",
  paste: "\u001b[201~rm -rf /\n",
  "device-string": "\u001bP+q544e\u001b\\",
  "privacy-message": "\u001b^x\u001b\\",
  "application-command": "\u001b_Gf=100;AAAA\u001b\\",
  reset: "\u001bc",
  "csi-8-bit": "\u009b2J",
  "osc-8-bit": "\u009d0;x\u009c",
  "dcs-8-bit": "\u0090x\u009c",
  "never-ending-osc": `\u001b]0;${"x".repeat(3000)}`,
  "never-ending-csi": `\u001b[${"1;".repeat(2000)}`,
  "cut-inside": `${"x".repeat(995)}\u001b[31mred`,
  bell: "\u0007\u0007\u0007",
  backspaces: "FAIL\b\b\b\bPASS",
  return: "tests failed\rtests passed",
  "shift-out": "\u000eabc\u000f",
  substitute: "a\u001ab",
  nul: "a\u0000b\u0000",
  "all-controls": Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join(""),
  "all-c1": Array.from({ length: 33 }, (_, code) => String.fromCharCode(0x7f + code)).join(""),
}

const disguises: Readonly<Record<string, string>> = {
  "bidi-override": "src/\u202egnp.exe",
  "bidi-isolates": "\u2066a\u2069\u2067b\u2069\u2068c\u2069",
  "bidi-unclosed": "access \u202e\u2066// only\u2069 \u2066 admin",
  "bidi-marks": "a\u200eb\u200fc\u061cd",
  "zero-width": "pass\u200bword\u200c\u200d\u2060\ufeff",
  "soft-hyphens": "fail\u00aded",
  homoglyphs: "\u0440\u0430ssed \u0430ll t\u0435sts",
  zalgo: `f${"\u0300\u0316\u0334\u0489".repeat(40)}ail`,
  "mark-alone": "\u0301\u0301",
  "enclosing-marks": "1\u20dd2\u20e33\u20e0",
  "variation-selectors": "\u2714\ufe0e\u2714\ufe0f a\u{e0101}b",
  "flag-tags": "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  "emoji-family": "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}",
  "private-use": "\ue0b0\uf8ff\u{100000}",
  "odd-spaces": "a\u00a0b\u1680c\u2003d\u202fe\u205ff\u3000g",
  fillers: "\u3164\uffa0\u115f\u1160\u2800",
  "object-replacement": "\ufffc\ufffd",
  ligatures: "\ufdfa\ufb03\u2100",
  decomposed: "nai\u0308ve e\u0301te\u0301",
  "lone-high": "a\ud83d",
  "lone-low": "\ude00a",
  "lone-many": "\ud800\ud800\udc00\udc00\udfff",
  astral: "\u{1f600}\u{20000}\u{10ffff}",
}

const breaks: Readonly<Record<string, string>> = {
  feeds: "a\n\n\n\nb",
  returns: "a\rb\r\rc",
  mixed: "a\r\nb\n\rc",
  "vertical-and-form": "a\vb\fc",
  "next-line": "a\u0085b",
  separators: "a\u2028b\u2029c",
  "information-separators": "a\u001cb\u001dc\u001ed\u001fe",
  tabs: "\t\ta\tb",
}

export const screens: readonly Input[] = [
  ...spellings("escape", "have a terminal do something", escapes),
  ...spellings("disguise", "look other than it is", disguises),
  ...spellings("break", "begin a line of its own", breaks),
]
