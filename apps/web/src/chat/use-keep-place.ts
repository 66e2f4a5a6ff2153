import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

type Kept = {
  scroller: RefObject<HTMLElement | null>
  content: RefObject<HTMLElement | null>
  /** The id of the first message. */
  first: string | undefined
  /** Called after messages came in front of it. */
  onGrown: () => void
}

/**
 * Keeps what somebody reads where it is when messages come in front: the row that was the first before stays at its place on the screen.
 * Browsers do this by themselves, except at the very top, where it happens most, and except Safari.
 */
export function useKeepPlace({ scroller, content, first, onGrown }: Kept): void {
  const kept = useRef<{ row: Element; topPx: number } | undefined>(undefined)
  const look = useRef(() => {})

  useEffect(() => {
    look.current = () => {
      const row = content.current?.firstElementChild
      kept.current = row ? { row, topPx: row.getBoundingClientRect().top } : undefined
    }
    look.current()
    const region = scroller.current
    const onScroll = () => look.current()
    region?.addEventListener('scroll', onScroll, { passive: true })
    return () => region?.removeEventListener('scroll', onScroll)
  }, [scroller, content])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another first message is the event, not an input
  useLayoutEffect(() => {
    const before = kept.current
    if (before?.row.isConnected && scroller.current) {
      scroller.current.scrollTop += before.row.getBoundingClientRect().top - before.topPx
      onGrown()
    }
    look.current()
  }, [first])
}
