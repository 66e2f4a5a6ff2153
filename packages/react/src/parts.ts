import { useEffect, useSyncExternalStore } from 'react'

/** Code of the card that only some cards need: where it has been loaded, `module` holds it. */
export type Part<Module> = { state: 'loading' | 'failed'; module?: undefined } | { state: 'ready'; module: Module }

/** A part that is loaded once for all cards of the page. After a failure, `start` tries again, and so does the next card that needs it. */
export type PartLoader<Module> = { get: () => Part<Module>; start: () => void; subscribe: (onChange: () => void) => () => void }

/** @param load The dynamic import. */
export function createPart<Module>(load: () => Promise<Module>): PartLoader<Module> {
  const listeners = new Set<() => void>()
  let part: Part<Module> = { state: 'loading' }
  let isStarted = false
  const set = (next: Part<Module>) => {
    part = next
    for (const listener of listeners) listener()
  }
  const start = () => {
    if (isStarted) return
    isStarted = true
    if (part.state === 'failed') set({ state: 'loading' })
    load().then(
      (module) => set({ state: 'ready', module }),
      () => {
        isStarted = false
        set({ state: 'failed' })
      },
    )
  }
  const subscribe = (onChange: () => void) => {
    listeners.add(onChange)
    return () => {
      listeners.delete(onChange)
    }
  }
  return { get: () => part, start, subscribe }
}

/** The part as it is now. It is loaded once a card needs it. */
export function usePart<Module>(loader: PartLoader<Module>, isNeeded: boolean): Part<Module> {
  useEffect(() => {
    if (isNeeded) loader.start()
  }, [loader, isNeeded])
  return useSyncExternalStore(loader.subscribe, loader.get, loader.get)
}
