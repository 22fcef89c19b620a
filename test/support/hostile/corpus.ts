// All hostile inputs. Ids never change, since failures are reported by them.

import { forgeries } from "./forgeries.ts"
import type { Input } from "./input.ts"
import { commands } from "./orders.ts"
import { roles } from "./roles.ts"
import { screens } from "./screens.ts"
import { shapes } from "./shapes.ts"
import { tags } from "./tags.ts"

export type { Input }

export const CORPUS: readonly Input[] = [...tags, ...forgeries, ...roles, ...commands, ...screens, ...shapes]
