// Episodes: runs of adjacent folded steps, each sent as one record.

import { type Fold, type Folds, stepFold } from "./fold.ts"

/** The messages or entries in order, with each run of folded steps as one list of their folds, oldest first. */
export function withEpisodes<T extends { id: string }>(items: readonly T[], folds: Folds): (T | Fold[])[] {
  const found: (T | Fold[])[] = []
  for (const item of items) {
    const fold = stepFold(folds, item.id)
    const last = found.at(-1)
    if (!fold) found.push(item)
    else if (Array.isArray(last)) last.push(fold)
    else found.push([fold])
  }
  return found
}

/** The episodes alone, oldest first. */
export function episodesOf(items: readonly { id: string }[], folds: Folds): Fold[][] {
  return withEpisodes(items, folds).filter((item) => Array.isArray(item))
}

/** Why the request was folded at all: `because` also says why this step or output was. */
export function cutReason({ because }: Pick<Fold, "because">): string {
  return because.slice(because.indexOf("; ") + 1).trim()
}

/** Why a step stays that the user has unfolded or pinned. */
export const KEPT_BY_USER = "you keep it whole"
