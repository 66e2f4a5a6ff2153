import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { AgentWords } from './agent-words.tsx'
import { AlikeNames } from './alike-names.tsx'
import { AskedAgain } from './asked-again.tsx'
import { ChangeRows } from './change-rows.tsx'
import { askedBy } from './may-decide.ts'
import { RawArguments } from './raw-arguments.tsx'
import { agoText, clockText, spanText } from './time.ts'
import { Votes } from './votes.tsx'
import { joined, namesOf, RISK_WORDS, riskSource } from './words.ts'

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
  return (
    <>
      <AskedAgain action={action} nowMs={nowMs} />
      {isGrave(action) ? <RiskReasons action={action} /> : null}
      <AlikeNames action={action} />
      <ChangeRows action={action} nowMs={nowMs} viewer={viewer} onLookAgain={onLookAgain} />
      <Votes action={action} nowMs={nowMs} />
      <Expiry action={action} nowMs={nowMs} id={expiryId} />
    </>
  )
}

type BackgroundProps = {
  action: Action
  nowMs: number
  agentSays: string
  runHref: string | undefined
}

/** The rest of the evidence in reading order: risk, requester, what the agent says, policy, raw arguments. */
export function Background({ action, nowMs, agentSays, runHref }: BackgroundProps) {
  const { agent, agentVerified, policy, createdAt } = action
  const names = namesOf(askedBy(action))
  return (
    <>
      {isGrave(action) ? null : <RiskReasons action={action} />}
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
      <AgentWords says={agentSays} context={action.context} />
      {action.callback && <p className="cs-note">When this ends, {showInvisible(action.callback.host)} is notified.</p>}
      <p className="cs-policy">
        {showInvisible(policy.reason) || 'Policy'}{' '}
        <span className="cs-note">
          rule “{showInvisible(policy.rule)}”, version {policy.version}
        </span>
      </p>
      <RawArguments action={action} />
    </>
  )
}

const isGrave = ({ risk }: Action): boolean => risk.level === 'high' || risk.level === 'critical'

/** The risk with its reasons, and who says so. */
function RiskReasons({ action: { risk } }: { action: Action }) {
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
      {leftMs > 0 ? ` (in ${spanText(leftMs)})` : ' (now)'}; it is not run then.
      {extension ? ` ${showInvisible(extension.by.name)} extended it.` : null}
    </p>
  )
}
