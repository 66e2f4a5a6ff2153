import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

const NEAR_PX = 48

const isAtEnd = (region: HTMLElement): boolean => region.scrollHeight - region.clientHeight - region.scrollTop <= NEAR_PX

/**
 * Keeps a scrolling region at its end as it grows, but only for somebody who is there: never while they read further up, never while
 * the pointer is on a card or the focus in one. `isBehind` tells that something came in below.
 * @param news Another text whenever something is said. Content grows for other reasons too: a disclosure is opened, a phone is turned.
 */
export function useStickToBottom(scroller: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>, news: string) {
  const isStuck = useRef(true)
  const [isBehind, setBehind] = useState(false)
  /** The height of the content at the last check. */
  const seenPx = useRef(0)
  const newest = useRef(news)
  /** The news when somebody was last at the end. */
  const seenNews = useRef(news)

  const toEnd = useCallback(() => {
    const region = scroller.current
    if (!region) return
    region.scrollTop = region.scrollHeight
    isStuck.current = true
    seenNews.current = newest.current
    setBehind(false)
  }, [scroller])

  useLayoutEffect(toEnd, [toEnd])

  useLayoutEffect(() => {
    newest.current = news
    const region = scroller.current
    if (isStuck.current && region && isAtEnd(region)) seenNews.current = news
  }, [news, scroller])

  useEffect(() => {
    const region = scroller.current
    const inner = content.current
    if (!region || !inner) return
    seenPx.current = inner.offsetHeight
    const seeEnd = () => {
      seenNews.current = newest.current
      setBehind(false)
    }
    const follow = () => {
      const grewPx = inner.offsetHeight - seenPx.current
      seenPx.current = inner.offsetHeight
      if (grewPx === 0) return
      const isTouched = inner.querySelector('article:hover, article:focus-within') !== null
      if (isStuck.current && !isTouched) toEnd()
      // A card that settles shrinks: the end may come into view, and there is no scroll event for that.
      else if (isAtEnd(region)) seeEnd()
      else if (grewPx > 0 && newest.current !== seenNews.current) setBehind(true)
    }
    const onScroll = () => {
      isStuck.current = isAtEnd(region)
      if (isStuck.current) seeEnd()
    }
    // Opening a disclosure grows the content too: what was clicked must stay under the pointer.
    const onClick = (event: MouseEvent) => {
      if (event.target instanceof Element && event.target.closest('summary')) isStuck.current = false
    }
    const observer = new ResizeObserver(follow)
    observer.observe(inner)
    observer.observe(region)
    region.addEventListener('scroll', onScroll, { passive: true })
    inner.addEventListener('click', onClick, true)
    return () => {
      observer.disconnect()
      region.removeEventListener('scroll', onScroll)
      inner.removeEventListener('click', onClick, true)
    }
  }, [scroller, content, toEnd])

  /** Older messages that were just put in front do not count as new messages below. */
  const grewInFront = useCallback(() => {
    if (!isStuck.current) seenPx.current = content.current?.offsetHeight ?? 0
  }, [content])

  return { isBehind, toEnd, grewInFront }
}
