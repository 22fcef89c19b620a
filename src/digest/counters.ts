// What the queue has counted since it began: how many outputs, what became of them, and what it took.

export type QueueCounters = {
  offered: number
  written: number
  /** found written before */
  fromCache: number
  /** not asked, since code says as much */
  known: number
  /** answered, and nothing of the answer stands in the output */
  refused: number
  failed: number
  /** gone with their session or message, or for newer output of the same subject */
  cancelled: number
  /** gone for worthier ones */
  crowded: number
  factsKept: number
  factsDropped: number
  promptTokens: number
  outputTokens: number
  /** that the backend was at work */
  ms: number
}

export function noCounts(): QueueCounters {
  return {
    offered: 0,
    written: 0,
    fromCache: 0,
    known: 0,
    refused: 0,
    failed: 0,
    cancelled: 0,
    crowded: 0,
    factsKept: 0,
    factsDropped: 0,
    promptTokens: 0,
    outputTokens: 0,
    ms: 0,
  }
}
