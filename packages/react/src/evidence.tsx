import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { AlikeNames } from './alike-names.tsx'
import { AskedAgain } from './asked-again.tsx'
import { ChangeRows } from './change-rows.tsx'
import { LongText } from './long-text.tsx'
import { askedBy } from './may-decide.ts'
import { RawArguments } from './raw-arguments.tsx'
import { agoText, clockText, spanText } from './time.ts'
import { Votes } from './votes.tsx'
import { joined, namesOf, RISK_WORDS, riskSource } from './words.ts'

type EvidenceProps = {
  action: Action
  nowMs: number
  riskId: string
  expiryId: string
  agentSays: string
  runHref: string | undefined
  /** Reads the current values again; undefined where that is not offered. */
  onLookAgain: (() => void) | undefined
}

/** Shows the evidence for a decision in reading order: risk, change, requester, reason, policy and expiry, raw arguments. */
export function Evidence({ action, nowMs, riskId, expiryId, agentSays, runHref, onLookAgain }: EvidenceProps) {
  const { risk, agent, agentVerified, policy, createdAt } = action
  const names = namesOf(askedBy(action))
  return (
    <>
      <AskedAgain action={action} nowMs={nowMs} />
      <p id={riskId} className="cs-risk" data-level={risk.level}>
        <strong>{RISK_WORDS[risk.level]}</strong> {risk.reasons.length > 0 && `· ${showInvisible(joined(...risk.reasons))} `}
        <span className="cs-note">({riskSource(risk)})</span>
      </p>
      <AlikeNames action={action} />
      <ChangeRows action={action} nowMs={nowMs} onLookAgain={onLookAgain} />
      <p className="cs-asked">
        Asked by <strong>{agent ? showInvisible(agent) : names}</strong>
        {agent && `${agentVerified ? '' : ' (not verified)'} for ${names}`}, <time dateTime={createdAt}>{agoText(createdAt, nowMs)}</time>
        {(action.timesAsked ?? 1) > 1 ? `, ${action.timesAsked} times` : null}
        {runHref && (
          <>
            {' '}
            <a href={runHref}>View run</a>
          </>
        )}
      </p>
      {agentSays && (
        <figure className="cs-says">
          <figcaption>Agent says (not verified)</figcaption>
          <blockquote dir="auto">
            <LongText text={agentSays} path="says" lines />
          </blockquote>
        </figure>
      )}
      <p className="cs-policy">
        {showInvisible(policy.reason) || 'Policy'}{' '}
        <span className="cs-note">
          rule “{showInvisible(policy.rule)}”, version {policy.version}
        </span>
      </p>
      <Votes action={action} nowMs={nowMs} />
      <Expiry action={action} nowMs={nowMs} id={expiryId} />
      <RawArguments action={action} />
    </>
  )
}

function Expiry({ action: { expiresAt, state }, nowMs, id }: { action: Action; nowMs: number; id: string }) {
  if (state !== 'proposed' || expiresAt === null) return null
  const leftMs = Date.parse(expiresAt) - nowMs
  return (
    <p id={id} className="cs-expiry" data-soon={leftMs < 60_000}>
      Expires <time dateTime={expiresAt}>{clockText(expiresAt, nowMs)}</time>
      {leftMs > 0 ? ` (in ${spanText(leftMs)})` : ' (now)'}; it is not run then.
    </p>
  )
}
