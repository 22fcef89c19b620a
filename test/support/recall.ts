// An answer of `hud_recall` as the tool gives it.

import type { Folds } from "../../src/fold/fold.ts"
import { HOST_LIMITS, type PageLimits } from "../../src/fold/pages.ts"
import { answerRecall } from "../../src/fold/recall.ts"
import { namedFolds, type Original, type RecallRequest, type RecallSource } from "../../src/fold/select.ts"

export function recallAnswer(
  request: RecallRequest,
  folds: Folds,
  originals: ReadonlyMap<string, Original>,
  limits: PageLimits = HOST_LIMITS,
  inConversation?: RecallSource["inConversation"],
): string {
  return answerRecall({ request, folds, named: namedFolds(request, folds), originals, inConversation }, limits).text
}
