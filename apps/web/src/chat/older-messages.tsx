import type { SessionSnapshot } from '@countersign/client'
import { type RefObject, useEffect, useRef } from 'react'
import { Button } from '../ui/index.ts'

type OlderMessagesProps = { state: SessionSnapshot['older']; scroller: RefObject<HTMLElement | null>; onLoad: () => Promise<void> }

/** Stands above the first message that is here: coming near it loads the ones before, and so does its button. */
export function OlderMessages({ state, scroller, onLoad }: OlderMessagesProps) {
  const end = useRef<HTMLDivElement>(null)

  useEffect(() => {
    // After a failure only a press of the button tries again; scrolling here does not.
    if (state !== 'more' || !end.current) return
    const observer = new IntersectionObserver(([entry]) => void (entry?.isIntersecting && onLoad()), {
      root: scroller.current,
      rootMargin: '400px 0px 0px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [state, scroller, onLoad])

  if (state === 'none') return null
  return (
    <div ref={end} className="older">
      {state === 'failed' && <span role="alert">Older messages could not be loaded.</span>}
      <Button aria-disabled={state === 'loading'} onClick={() => void onLoad()}>
        {state === 'loading' ? 'Loading older messages…' : state === 'failed' ? 'Try again' : 'Load older messages'}
      </Button>
    </div>
  )
}
