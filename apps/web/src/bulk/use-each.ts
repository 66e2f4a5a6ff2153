import type { Action } from '@countersign/client'
import { useRef, useState } from 'react'
import { changeEach } from './each.ts'

export type Progress = { done: number; of: number }

/** Changes many actions one by one. `progress` is set while it runs. */
export function useEach() {
  const [progress, setProgress] = useState<Progress>()
  const stopping = useRef(new AbortController())
  return {
    progress,
    stop: () => stopping.current.abort(),
    change<Item extends { action: Action }>(
      items: readonly Item[],
      change: (item: Item, options: { signal: AbortSignal }) => Promise<unknown>,
      whyNot?: (error: unknown) => string | undefined,
    ) {
      stopping.current = new AbortController()
      const of = items.length
      setProgress({ done: 0, of })
      const onProgress = (done: number) => setProgress({ done, of })
      return changeEach(items, change, { signal: stopping.current.signal, onProgress, ...(whyNot && { whyNot }) })
    },
  }
}
