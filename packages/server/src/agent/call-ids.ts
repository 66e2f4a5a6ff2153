/** Gives each call of a step its id, the same for every event of the call. */
export interface CallIds {
  of(key: string, providerCallId: string | undefined): string
  /** The step is made again from its start: no id that was told already is given to another call. */
  restart(): void
}

/**
 * Providers reuse their ids (`functions.add:0` in every run), leave them empty or send none: theirs stand only while they are unique in
 * the session, and never for more than a name.
 * @param taken The ids of the session's earlier calls.
 */
export function openCallIds(taken: ReadonlySet<string>, newCallId: () => string): CallIds {
  const chosen = new Map<string, string>()
  const used = new Set<string>()
  const isUsable = (id: string | undefined): id is string =>
    id !== undefined && /^[\x21-\x7e]{1,128}$/.test(id) && !used.has(id) && !taken.has(id)

  return {
    of(key, providerCallId) {
      const known = chosen.get(key)
      if (known !== undefined) return known
      const id = isUsable(providerCallId) ? providerCallId : newCallId()
      chosen.set(key, id)
      used.add(id)
      return id
    },
    restart: () => chosen.clear(),
  }
}
