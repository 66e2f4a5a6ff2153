import { useEffect, useRef } from 'react'
import type { CardView } from './use-card-view.ts'

/** Shorter than this, a card that is scrolled past counts as seen. */
const LOOK_MS = 1_000
/** So many reports are remembered; forgetting them only repeats some, which the server takes for one. */
const MOST_REMEMBERED = 1_000

const reported = new Set<string>()

/**
 * Reports once for each action and revision that the title and the changes of a waiting action have been on the screen, and the card a second
 * longer, while the page was visible. A report that fails is left out until the card is shown again: no decision depends on it.
 */
export default function ReportSeen({ view: { card, seen, props, shown } }: { view: CardView }) {
  const { id, revision, digest, state } = shown.action
  const report = useRef(props.onSeen)
  report.current = props.onSeen
  const key = JSON.stringify([props.me?.id, id, revision, digest])
  const isDue = seen.wasOnScreen && state === 'proposed' && shown.evidence === 'ready' && props.onSeen !== undefined
  useEffect(() => {
    const element = card.current
    if (!isDue || element === null || reported.has(key)) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOnScreen = false
    const send = () => {
      observer.disconnect()
      document.removeEventListener('visibilitychange', restart)
      if (reported.size >= MOST_REMEMBERED) reported.clear()
      reported.add(key)
      Promise.resolve(report.current?.({ revision, digest })).catch(() => reported.delete(key))
    }
    const restart = () => {
      clearTimeout(timer)
      if (isOnScreen && document.visibilityState === 'visible') timer = setTimeout(send, LOOK_MS)
    }
    const observer = new IntersectionObserver((entries) => {
      isOnScreen = entries.at(-1)?.isIntersecting === true
      restart()
    })
    observer.observe(element)
    document.addEventListener('visibilitychange', restart)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
      document.removeEventListener('visibilitychange', restart)
    }
  }, [card, isDue, key, revision, digest])
  return null
}
