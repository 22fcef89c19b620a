// Outputs that the user protects from folding.

import { describe, expect, test } from "bun:test"
import { protection } from "../../src/options.ts"
import type { ToolEvent } from "../../src/session/tool-event.ts"

const event = (tool: string, ...paths: string[]) =>
  ({ tool, files: paths.map((path) => ({ path, use: "read" })) }) as unknown as ToolEvent

function isProtected(patterns: { tools?: string[]; files?: string[] }, tool: string, ...paths: string[]): boolean {
  const { tools = [], files = [] } = patterns
  return protection({ protectedTools: tools, protectedFiles: files })(event(tool, ...paths))
}

describe("protected are", () => {
  test("nothing by default", () => {
    expect(isProtected({}, "read", "docs/a.md")).toBe(false)
  })

  test("tools, by name or by a pattern of names", () => {
    expect(isProtected({ tools: ["mcp_*"] }, "mcp_search")).toBe(true)
    expect(isProtected({ tools: ["mcp_*", "webfetch"] }, "webfetch")).toBe(true)
    expect(isProtected({ tools: ["mcp_*", "web"] }, "webfetch")).toBe(false)
  })

  test.each<[string, string, boolean]>([
    ["docs/**/*.md", "docs/plans/a.md", true],
    ["docs/**/*.md", "docs/a.md", true],
    ["docs/**/*.md", "src/docs/a.md", false],
    ["docs/**", "docs/plans/a.ts", true],
    ["docs/", "docs/plans/a.ts", true],
    ["docs/", "docs.md", false],
    ["*.md", "docs/plans/a.md", true],
    ["README.md", "packages/shop/readme.md", true],
    ["README.md", "packages/shop/readme.md.bak", false],
    [".env*", "config/.env.local", true],
    ["**/secrets/*", "/home/dev/secrets/key", true],
    ["src/[id]/page.ts", "src/i/page.ts", true],
    ["", "src/a.ts", false],
    // no pattern excepts files from the others
    ["!src/gen/**", "docs/a.md", false],
    ["app/(auth)/", "app/(auth)/login.tsx", true],
    ["app/(auth|shop)/*.tsx", "app/shop/cart.tsx", true],
    ["文档/", "文档/安装 指南.md", true],
    ["ФАЙЛЫ/*.md", "файлы/корзина.md", true],
    ["Übersicht.md", "docs/Übersicht.md".normalize("NFD"), true],
  ])("files: the pattern %j holds for %s: %j", (pattern, path, expected) => {
    expect(isProtected({ files: [pattern] }, "read", path)).toBe(expected)
  })

  test("calls that show several files when one of them is", () => {
    expect(isProtected({ files: ["a.ts"] }, "bash", "src/b.ts", "src/a.ts")).toBe(true)
    expect(isProtected({ files: ["", "a.ts"] }, "bash", "src/b.ts")).toBe(false)
  })
})
