/** Counts the requests of hooks that wait for each action in this process. */
export interface Holders {
  hold(actionId: string): Disposable
  isHeld(actionId: string): boolean
  /** True when more than one request waits for it. */
  isHeldByOthers(actionId: string): boolean
}

export function createHolders(): Holders {
  const counts = new Map<string, number>()
  const count = (id: string): number => counts.get(id) ?? 0
  return {
    hold(id) {
      counts.set(id, count(id) + 1)
      return {
        [Symbol.dispose]() {
          if (count(id) <= 1) counts.delete(id)
          else counts.set(id, count(id) - 1)
        },
      }
    },
    isHeld: (id) => count(id) > 0,
    isHeldByOthers: (id) => count(id) > 1,
  }
}
