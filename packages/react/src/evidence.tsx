import type { Action } from '@countersign/client'
import { riskSource } from '@countersign/core/text'
import { AskedAgain } from './asked-again.tsx'
import { ChangeRows } from './change-rows.tsx'
import { MARKS, showInvisible } from './show-text.ts'
import { clockText, spanText } from './time.ts'
import { Votes } from './votes.tsx'
import { joined, RISK_WORDS } from './words.ts'

type EssentialsProps = {
  action: Action
  nowMs: number
  expiryId: string
  /** Id of the person. */
  viewer: string
  /** Reads the current values again; undefined where that is not offered. */
  onLookAgain: (() => void) | undefined
}

/** The facts that a decision needs: earlier revisions, high risk, names that look alike, the changes, votes and the deadline. */
export function Essentials({ action, nowMs, expiryId, viewer, onLookAgain }: EssentialsProps) {
  // The card draws all of itself again once the part is there.
  const AlikeNames = MARKS.get().module?.AlikeNames
  return (
    <>
      <AskedAgain action={action} nowMs={nowMs} />
      {isGrave(action) ? <RiskReasons action={action} /> : null}
      {AlikeNames ? <AlikeNames action={action} /> : null}
      <ChangeRows action={action} nowMs={nowMs} viewer={viewer} onLookAgain={onLookAgain} />
      <Votes action={action} nowMs={nowMs} />
      <Expiry action={action} nowMs={nowMs} id={expiryId} />
    </>
  )
}

/** True where the reasons for the risk stand on the card itself. */
export const isGrave = ({ risk }: Action): boolean => risk.level === 'high' || risk.level === 'critical'

/** The risk with its reasons and their source. */
export function RiskReasons({ action: { risk } }: { action: Action }) {
  return (
    <p className="cs-risk" data-level={risk.level}>
      <strong>{RISK_WORDS[risk.level]}</strong> {risk.reasons.length > 0 && `· ${showInvisible(joined(...risk.reasons))} `}
      <span className="cs-note">({riskSource(risk)})</span>
    </p>
  )
}

function Expiry({ action: { expiresAt, extension, state }, nowMs, id }: { action: Action; nowMs: number; id: string }) {
  if (state !== 'proposed' || expiresAt === null) return null
  const leftMs = Date.parse(expiresAt) - nowMs
  return (
    <p id={id} className="cs-expiry" data-soon={leftMs < 60_000}>
      Expires <time dateTime={expiresAt}>{clockText(expiresAt, nowMs)}</time>
      {leftMs > 0 ? ` (in ${spanText(leftMs)})` : ' (now)'}. No approval after that.
      {extension ? ` ${showInvisible(extension.by.name)} extended it.` : null}
    </p>
  )
}
