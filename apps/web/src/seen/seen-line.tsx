import type { Action } from '@countersign/client'
import { showInvisible, spanText } from '@countersign/react'
import { fullTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { useSeenBy } from './use-seen-by.ts'
import './seen.css'

const MOST_NAMED = 2

/** Says who else has a waiting action on the screen, so that two people do not work on the same one. Its line is there before its text, so nothing moves. */
export function SeenLine({ action }: { action: Action }) {
  const seenBy = useSeenBy(action) ?? []
  const nowMs = useNow()
  if (action.state !== 'proposed') return null
  const named = seenBy.slice(0, MOST_NAMED)
  const more = seenBy.length - named.length
  return (
    <p className="seen-line" data-testid="seen-by">
      {named.length > 0 && 'Seen by '}
      {named.map(({ by, at }, index) => (
        <span key={by.id}>
          {index > 0 && ' · '}
          {showInvisible(by.name)},{' '}
          <time dateTime={at} title={fullTime(at)}>
            {spanText(Math.max(nowMs - Date.parse(at), 0))} ago
          </time>
        </span>
      ))}
      {more > 0 && ` · ${more} more`}
    </p>
  )
}
