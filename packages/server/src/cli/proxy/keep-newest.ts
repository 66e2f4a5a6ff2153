const MAX_KEPT = 1_000

/** Keeps a value, and only the newest 1,000 of a map, so that a long session does not grow without end. */
export function keepNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest)
}
