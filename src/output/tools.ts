// What kind of work a tool does, by the name the model calls it: OpenCode's own tools, the names that other agents and
// older versions use, and a guess from the words in the name for MCP and custom tools.

const TOOLS = {
  read: "read view",
  edit: "edit multiedit str_replace",
  write: "write",
  patch: "apply_patch patch",
  command: "bash shell",
  search: "grep codesearch lsp",
  list: "glob list ls",
  web: "webfetch websearch",
  task: "task subagent",
  todo: "todowrite todoread",
  skill: "skill",
  question: "question",
}

/** `other` covers MCP and custom tools whose name says nothing. */
export type ToolKind = keyof typeof TOOLS | "other"

/** How one tool call used one file. A path inside the worktree is relative to it. */
export type FileUse = { path: string; use: "read" | "edit" | "write" | "delete" }

const KINDS = new Map(
  Object.entries(TOOLS).flatMap(([kind, tools]) => tools.split(" ").map((tool) => [tool, kind as ToolKind] as const)),
)

/** What the name of an MCP or custom tool says, such as `filesystem_edit_file`. The first that matches counts. */
const GUESSES: readonly (readonly [ToolKind, RegExp])[] = [
  ["patch", /(?:^|_)apply_patch$/i],
  ["edit", /(?:^|_)(?:edit|replace|insert)(?:_|$)/i],
  ["read", /(?:^|_)(?:read|view)_(?:\w+_)?file$/i],
  ["write", /(?:^|_)write_(?:\w+_)?file$/i],
  ["command", /(?:^|_)(?:bash|shell|(?:execute|run)_command)(?:_|$)/i],
  ["web", /(?:^|_)(?:web|fetch|browse|crawl)/i],
  ["search", /(?:^|_)(?:grep|search|find)(?:_|$)/i],
]

export function toolKindOf(tool: string): ToolKind {
  return KINDS.get(tool) ?? GUESSES.find(([, pattern]) => pattern.test(tool))?.[0] ?? "other"
}
