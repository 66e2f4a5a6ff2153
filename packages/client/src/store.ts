/** A value that changes over time: what `useSyncExternalStore` wants. Snapshots are immutable and keep their identity between changes. */
export type Store<T> = {
  get(): T
  /** Calls `listener` after every change; the answer ends that. */
  subscribe(listener: () => void): () => void
  /** Ends the work behind the store. Its last snapshot stays readable. */
  close(): void
}

/**
 * The plain half of a store: a value and its listeners. Listeners are called once per task, not once per change: a replay of a
 * thousand events must not draw a page a thousand times. `get` is current at once.
 */
export function createValue<T>(first: T): { get(): T; set(next: T): void; subscribe(listener: () => void): () => void } {
  let value = first
  let told = true
  const listeners = new Set<() => void>()
  const tell = () => {
    told = true
    for (const listener of [...listeners]) listener()
  }
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      if (told) setTimeout(tell, 0)
      told = false
    },
    subscribe: (listener) => {
      // A function of its own per subscription: the same listener may subscribe twice and leave once.
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
  }
}
