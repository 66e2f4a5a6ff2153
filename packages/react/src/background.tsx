import { AgentWords } from './agent-words.tsx'
import { isGrave, RiskReasons } from './evidence.tsx'
import { askedBy } from './may-decide.ts'
import { RawArguments } from './raw-arguments.tsx'
import { showInvisible } from './show-text.ts'
import { agoText } from './time.ts'
import type { CardView } from './use-card-view.ts'
import { namesOf } from './words.ts'

/** The rest of the evidence in reading order: risk, requester, what the agent says, policy, raw arguments. */
export function Background({ view: { shown, nowMs, props } }: { view: CardView }) {
  const { action } = shown
  const { agent, agentVerified, policy, createdAt } = action
  const { runHref, agentSays } = props
  // An agent that asks for itself is named once.
  const names = namesOf(askedBy(action).filter(({ kind, name }) => !(agentVerified && kind === 'agent' && name === agent)))
  return (
    <>
      {isGrave(action) ? null : <RiskReasons action={action} />}
      <p className="cs-asked">
        Asked by <strong>{agent ? showInvisible(agent) : names}</strong>
        {agent && `${agentVerified ? '' : ' (not verified)'}${names && ` for ${names}`}`},{' '}
        <time dateTime={createdAt}>{agoText(createdAt, nowMs)}</time>
        {(action.timesAsked ?? 1) > 1 ? `, ${action.timesAsked} times` : null}
        {runHref && (
          <>
            {' '}
            <a href={runHref}>View run</a>
          </>
        )}
      </p>
      <AgentWords says={agentSays ?? action.agentSays ?? ''} context={action.context} />
      {action.callback && <p className="cs-note">When this ends, {showInvisible(action.callback.host)} is notified.</p>}
      <p className="cs-policy">
        {showInvisible(policy.reason) || 'Policy'}{' '}
        <span className="cs-note">
          {policy.rule === 'default' ? 'policy' : `rule “${showInvisible(policy.rule)}”`}, version {policy.version}
        </span>
      </p>
      <RawArguments action={action} />
    </>
  )
}
