// What kind of work a tool does, by the name the model calls it: OpenCode's own tools, the names that other agents and
// older versions use, and what the name of an MCP or custom tool says, such as `filesystem_edit_file`.

/** The first that matches counts. */
const TOOLS = [
  ["read", /^(?:read|view)$|(?:^|_)(?:read|view)_(?:\w+_)?files?$|(?:^|_)get_file_text_by_path$/i],
  ["edit", /^multiedit$|(?:^|_)(?:edit|replace|insert)(?:_|$)/i],
  ["write", /^write$|(?:^|_)write_(?:\w+_)?file$|(?:^|_)create_(?:text|new)_file(?:_with_text)?$/i],
  ["patch", /^patch$|(?:^|_)apply_patch$/i],
  ["command", /(?:^|_)(?:bash|shell|(?:execute|run)_command)(?:_|$)/i],
  ["web", /(?:^|_)(?:web|fetch|browse|crawl)/i],
  ["search", /^codesearch$|(?:^|_)(?:grep|search|find)(?:_|$)/i],
  ["list", /^(?:glob|list|ls)$/i],
  ["task", /^(?:task|subagent)$/i],
  ["todo", /^todo(?:write|read)$/i],
  ["skill", /^(?:use_)?skill$/i],
  ["question", /^question$|(?:^|_)(?:interactive_feedback|user_(?:feedback|input)|ask_user|submit_plan)(?:_|$)/i],
] as const

/** `other` covers MCP and custom tools whose name says nothing. */
export type ToolKind = (typeof TOOLS)[number][0] | "other"

/** How one tool call used one file. A path inside the worktree is relative to it. */
export type FileUse = { path: string; use: "read" | "edit" | "write" | "delete" }

export function toolKindOf(tool: string): ToolKind {
  return TOOLS.find(([, pattern]) => pattern.test(tool))?.[0] ?? "other"
}

/**
 * Words in the name of a tool that runs tests or builds, or shows what one process prints. What others return may quote a run,
 * and a terminal shows older runs too.
 */
const RUNNER =
  /(?:^|[_-])(?:run|exec|execute|(?:py|vi)?tests?|jest|build|(?:type)?checks?|lint|verify|process|pty|stdin)(?=[_A-Z-]|$)/

/** Whether an unknown tool returns the output of a run; code may have asked other tools. */
export function isRunner(tool: string, { code }: Readonly<Record<string, unknown>>): boolean {
  return RUNNER.test(tool) && code === undefined
}

/** Whether a tool's result is an error in words, as servers such as Serena and Desktop Commander return it. */
export function saysError(output: string): boolean {
  return /^(?:Error(?: executing tool)?: |Search content not found in |Exact match not found, |Expected \d+ occurrences but found )/.test(
    output,
  )
}
