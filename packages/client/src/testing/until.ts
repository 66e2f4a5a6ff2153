import type { Store } from '../store.ts'

/** Waits until the store says so. */
export const until = <T>(store: Store<T>, holds: (snapshot: T) => boolean): Promise<T> =>
  new Promise((resolve) => {
    const look = () => {
      if (!holds(store.get())) return
      stop()
      resolve(store.get())
    }
    const stop = store.subscribe(look)
    look()
  })
