import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

// Storage may be forbidden by the browser: the switch then holds for this page only.
const memory = new Map<string, string>()

function read(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null
  } catch {
    return memory.get(key) ?? null
  }
}

function write(key: string, value: string): void {
  memory.set(key, value)
  try {
    localStorage.setItem(key, value)
  } catch {
    // Kept in memory above.
  }
  for (const each of listeners) each()
}

/** A yes-or-no preference, remembered in this browser and the same in all its tabs. */
export function useStoredSwitch(key: string, initially: boolean): [on: boolean, set: (on: boolean) => void] {
  const stored = useSyncExternalStore(subscribe, () => read(key))
  return [stored === null ? initially : stored === 'on', (on) => write(key, on ? 'on' : 'off')]
}

/** A preference out of several, remembered in the same way. */
export function useStoredChoice<T extends string>(key: string, choices: readonly T[], initially: T): [chosen: T, set: (to: T) => void] {
  const stored = useSyncExternalStore(subscribe, () => read(key))
  return [choices.find((choice) => choice === stored) ?? initially, (to) => write(key, to)]
}
