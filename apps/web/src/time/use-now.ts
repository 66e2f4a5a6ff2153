import { useSyncExternalStore } from 'react'

const STEP_MS = 15_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let nowMs = Date.now()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of listeners) each()
  }, STEP_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function snapshot(): number {
  // The clock stops without readers, so the first reader after a pause reads the current time.
  if (!timer && Date.now() - nowMs > STEP_MS) nowMs = Date.now()
  return nowMs
}

/** The current time in epoch ms, moving every 15 s; one timer for all readers, none while nobody reads. */
export const useNow = (): number => useSyncExternalStore(subscribe, snapshot)
