// Which kind of work a tool does, by the name the model calls it. OpenCode's own tools, the names peers and older
// versions use for the same work, and a guess by words for MCP and custom tools.

/** What a tool does to the world, by which everything downstream is decided. `other` covers MCP and custom tools. */
export type ToolKind =
  | "read"
  | "edit"
  | "write"
  | "patch"
  | "command"
  | "search"
  | "list"
  | "web"
  | "task"
  | "todo"
  | "skill"
  | "question"
  | "other"

/** How one tool call used one file. Paths are relative to the worktree where they lie in it. */
export type FileUse = {
  path: string
  use: "read" | "edit" | "write" | "delete"
  /** lines shown by a read, 1-based and inclusive; absent = the whole file */
  range?: readonly [number, number]
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  view: "read",
  edit: "edit",
  multiedit: "edit",
  str_replace: "edit",
  write: "write",
  apply_patch: "patch",
  patch: "patch",
  bash: "command",
  shell: "command",
  grep: "search",
  codesearch: "search",
  lsp: "search",
  glob: "list",
  list: "list",
  ls: "list",
  webfetch: "web",
  websearch: "web",
  task: "task",
  todowrite: "todo",
  todoread: "todo",
  skill: "skill",
  question: "question",
}

/** The kind of a tool by its name; a name nobody knows is judged by its words, and is `other` when they say nothing. */
export function kindOf(tool: string): ToolKind {
  const known = Object.hasOwn(KINDS, tool) ? KINDS[tool] : undefined
  if (known) return known
  if (/(^|_)(web|fetch|browse|crawl)/i.test(tool)) return "web"
  if (/(^|_)(grep|search|find)(_|$)/i.test(tool)) return "search"
  return "other"
}
