// What an output shows: decided by the tool and, for a shell command, by the program that printed it.

import { describe, expect, test } from "bun:test"
import { type Shows, showsOf } from "../../src/output/shows.ts"
import type { FileUse, ToolKind } from "../../src/output/tools.ts"

const ran = (command: string) => showsOf("bash", "command", [], command)
const file = (path: string): FileUse[] => [{ path, use: "read" }]

describe("a tool shows", () => {
  test.each<[Shows, ToolKind, FileUse[]]>([
    ["file", "read", file("src/a.ts")],
    // a folder has no file
    ["listing", "read", []],
    ["matches", "search", []],
    ["listing", "list", []],
    ["page", "web", []],
    ["change", "edit", []],
    ["change", "write", []],
    ["change", "patch", []],
    ["answer", "task", []],
    ["answer", "todo", []],
    ["answer", "skill", []],
    ["answer", "question", []],
    ["other", "other", []],
  ])("%s when its kind is %s", (shows, kind, files) => {
    expect(showsOf("x", kind, files, "")).toBe(shows)
  })

  test("a recalled output, whatever its kind is taken for", () => {
    expect(showsOf("hud_recall", "other", [], "")).toBe("recalled")
  })
})

describe("a command shows", () => {
  test.each<[string, Shows]>([
    ["cat src/a.ts", "file"],
    ["cd shop && cat src/a.ts", "file"],
    ["cat docs/plan.md", "file"],
    ["sed -n 1,80p src/a.ts", "file"],
    ["head -50 src/a.ts", "file"],
    ["cat src/a.ts | head -20", "file"],
    ["rg cookie src", "matches"],
    ["git grep cookie", "matches"],
    ["grep -n cookie -r src | head -5", "matches"],
    ["grep -n -A 5 cookie src/a.ts", "matches"],
    ["ls -la src", "listing"],
    ["find . -name '*.ts' | wc -l", "listing"],
    ["echo start; ls src", "listing"],
    ["Get-Content C:\\shop\\src\\a.ts -TotalCount 80", "file"],
    ["Set-Location shop; gc src/a.ts | Select-Object -First 20", "file"],
    ["Select-String -Path src\\*.ts -Pattern cookie", "matches"],
    ["Get-ChildItem src -Recurse | Where-Object { $_.Length -gt 1000 }", "listing"],
    ["npm test", "run"],
    ["npm test | tail -20", "run"],
    ["git status", "run"],
    ["export A=1", "run"],
    ["", "run"],
  ])("%j: %s", (command, shows) => {
    expect(ran(command)).toBe(shows)
  })
})
