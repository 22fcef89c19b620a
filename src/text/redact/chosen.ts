// Tells passwords that people make of words from the names and messages that code has in the same place. Only for values
// beside a secret's name.

/** Words that are common in names of secrets and rare in secrets; `monkey` is none. */
export const SECRET_WORD = /secret|token|(?<!mon|don|tur|hoc|whis)key|pass|auth|cred/i
/** The same, and words of examples, as parts of a phrase: `monkey` is none. */
const PHRASE_WORD =
  /(?:^|[ -])(?:secrets?|tokens?|keys?|pass(?:words?|wd|phrases?|codes?)?|auth|creds?|credentials?|tests?|testing|examples?|your|my)(?=$|[ -]|\d)/
/** Words of messages and labels. */
export const SENTENCE_WORD =
  /\b(?:the|are|was|were|been|must|should|can|cannot|could|not|with|without|from|for|and|this|that|its|please|enter|invalid|missing|required|expired|expires|wrong|too|one|has|have|may|will|new|old|current|confirm|forgot|reset|change|set|use|used|using|value|string|field|name|user|email|default|error|failed|unknown|only|when|than|least|between|does|match)\b/
/** Words of types, classes and constants. */
const TYPE_WORD =
  /String|(?:Str|Id|Map|Char|Any|Form|Open|Host|Left)s?(?![a-z])|Mapp|Format|Character|Text|Number|Int|Bool|Type|Field|Input|Option|Value|Object|Byte|Array|List|Error|Schema|Config|Model|View|Service|Provider|Factory|Handler|Manager|Client|Server|Store|Storage|Request|Response|Param|Data|File|Path|Name|Info|Item|Node|Ref|Required|Default|Hash|Encod|Decod|Serial|Valid|Gener|Change|Reset|Random|Process|Source|Result|Props|State|Context|Builder|Reader|Writer|Event|Block|Policy|Rule|Method|Code|Header|User|Test|Mock|Fake|Dummy|Example|Sign|Identity|Session|Digit|Json|Sensitive|Private|Public|Exp|Paren|Brace|Bracket|Close|Plus|Minus|Right|Comma|Colon|Semi|Equal|Keyword|Literal|Operator/

/**
 * A passphrase: three or more words joined by dashes or blanks, `correct-horse-battery` or `correct-horse-battery42`, none
 * of which is common in names of secrets or in messages.
 */
export function isPhrase(value: string): boolean {
  return (
    /^[a-z]+(?:-[a-z]+){2,}$|^[a-z]{3,}(?:[ -][a-z]{3,}){2,}$|^[a-z]{3,}(?:-[a-z]{3,}){2,}-?\d{1,4}$/.test(value) &&
    !PHRASE_WORD.test(value) &&
    !SENTENCE_WORD.test(value)
  )
}

/** Words and a number, joined by dashes, `amber-pine-77`, or a word and four digits. */
export function isNumberedPhrase(value: string): boolean {
  return /^[a-z]{3,}(?:-[a-z]{3,}){1,4}-?\d{1,4}$|^[A-Za-z][a-z]{3,}\d{4}$/.test(value) && !PHRASE_WORD.test(value)
}

/**
 * Two to five capitalised words, `CorrectHorse`, `CorrectHorse42` or `Correct-Horse-42`, that do not look like the name of
 * a type; with a number the first may be small.
 */
function isCoined(value: string): boolean {
  return (
    /^(?:[A-Z][a-z]+){2,5}(?<=[a-z]{3})\d{0,4}$|^[a-z]{3,}(?:[A-Z][a-z]{2,}){1,3}(?!(?:16|32|64|128|256|512)$)\d{2,4}$|^(?:[A-Z][a-z]{2,}[-_]){2,4}\d{2,4}$/.test(
      value,
    ) && !isNaming(value)
  )
}

/** Words without anything between them, too many letters for a word. */
const RUN_TOGETHER = /^[a-z]{16,40}(?<!ions?|ing|ments?|ness|ity|abl[ey]|ally|ivel?y?|ization|ables?|ers?)$/

/** Whether it contains a word that is common in names. */
function isNaming(value: string): boolean {
  return SECRET_WORD.test(value) || TYPE_WORD.test(value)
}

/** A word of a camelCase identifier after the first. */
const HUMP = "(?:[A-Z][a-z]{2,}|Id|Db|Ip|Js|Ms|By|Of|To|In|On|Up|Is|At|As|Or|No|Io|Ui|Ok|Fn|Op|El|Ts|Go|My|Do|Be)"
const SNAKE = /^(?:(?:[A-Z]?[a-z]+|[A-Z]+)_)+(?:[A-Z]?[a-z]+|[A-Z]+)$/
/** A camelCase identifier. */
export const CAMEL = new RegExp(`^(?:[A-Z]?[a-z]+|[A-Z]{2,5})${HUMP}*(?:[A-Z]{2,4}s?)?$`)

/** Six letters or more whose capitals are not those of words or identifiers: `qJquiZBx`, `ZdRa_gCIM_NVPY`. */
function isOddlyCased(value: string): boolean {
  const letters = value.replaceAll("_", "")
  const hasCases = /^[A-Za-z]{6,}$/.test(letters) && /[a-z]/.test(value) && /[A-Z]/.test(value)
  return hasCases && !CAMEL.test(letters) && !SNAKE.test(value) && !isNaming(letters)
}

/** Letters that a person or a machine chose as a secret. A quoted value cannot be a variable, so the rule is wider for it. */
export function isChosen(value: string, quoted = false): boolean {
  return (
    isPhrase(value) ||
    isCoined(value) ||
    (RUN_TOGETHER.test(value) && !SECRET_WORD.test(value)) ||
    isOddlyCased(value) ||
    (quoted && /^[A-Za-z][a-z]*(?:[A-Z][a-z]+)+$/.test(value) && !isNaming(value))
  )
}
