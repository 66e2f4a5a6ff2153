import type { Action } from '@countersign/client'
import { showInvisible } from './show-text.ts'
import { clockText } from './time.ts'

/** Why this is not what was asked first, and since when. */
export function AskedAgain({ action: { revised, revision, state }, nowMs }: { action: Action; nowMs: number }) {
  if (revised === null) return null
  return (
    <p className="cs-again" data-why={revised.why}>
      {showInvisible(revised.reason)} {state === 'proposed' ? <strong>Asked again.</strong> : null}{' '}
      <span className="cs-note">
        revision {revision}, <time dateTime={revised.at}>{clockText(revised.at, nowMs)}</time>
      </span>
    </p>
  )
}
