// A map that cannot grow: setting an entry makes it the newest, and one too many takes the place of the oldest.

/** Sets the entry as the newest and drops the oldest when there are more than `most`. */
export function renew<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value as K)
}
