// What each tool costs: what its calls and their results come to when they are new, and what they come to over all
// requests that carry them, as recorded and with the plugin.

export type ToolCost = {
  tool: string
  calls: number
  /** tokens of arguments and of outputs, each counted once, when they came in */
  inputTokens: number
  outputTokens: number
  /** tokens of both, counted on every request that carried them */
  withoutTokens: number
  withTokens: number
}

export function noCost(tool: string): ToolCost {
  return { tool, calls: 0, inputTokens: 0, outputTokens: 0, withoutTokens: 0, withTokens: 0 }
}

/** The costs of several sessions in one list. */
export function sumToolCosts(lists: readonly (readonly ToolCost[])[]): ToolCost[] {
  const sums = new Map<string, ToolCost>()
  for (const one of lists.flat()) {
    const sum = sums.get(one.tool) ?? noCost(one.tool)
    sums.set(one.tool, sum)
    for (const name of ["calls", "inputTokens", "outputTokens", "withoutTokens", "withTokens"] as const)
      sum[name] += one[name]
  }
  return sorted(sums.values())
}

/** The dearest first. */
export function sorted(costs: Iterable<ToolCost>): ToolCost[] {
  return [...costs].sort((a, b) => b.withoutTokens - a.withoutTokens || b.outputTokens - a.outputTokens)
}
