// How large a proof is: everything when `npm run prove` asks for it, a size for every day otherwise.

const FULL = process.env.HUDFOLD_PROVE === "full"

/** The first size in `npm test`, the second under `npm run prove`. */
export function sized(everyDay: number, full: number): number {
  return FULL ? full : everyDay
}
