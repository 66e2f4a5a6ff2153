import type { Action } from '@countersign/client'
import { ResultMedia, showInvisible, withoutMedia } from '@countersign/react'
import { memo } from 'react'
import { Icon, type IconName } from '../ui/index.ts'
import type { Call } from './conversation.ts'
import { RawJson } from './raw-json.tsx'

type Outcome = { word: string; icon: IconName; tone?: 'error' | 'warning' }

const OUTCOMES: Record<Action['state'], Outcome> = {
  proposed: { word: 'waiting', icon: 'clock', tone: 'warning' },
  approved: { word: 'starting', icon: 'dots' },
  executing: { word: 'running', icon: 'dots' },
  succeeded: { word: 'done', icon: 'check' },
  failed: { word: 'failed', icon: 'alert', tone: 'error' },
  declined: { word: 'refused', icon: 'cross' },
  expired: { word: 'expired', icon: 'clock' },
  cancelled: { word: 'cancelled', icon: 'cross' },
  outcome_unknown: { word: 'outcome unknown', icon: 'alert', tone: 'warning' },
}

/** The outcome of a call that is no action. */
function outcomeWithoutAction({ result, refusal }: Call): Outcome {
  if (refusal !== undefined) return OUTCOMES.declined
  return result === undefined ? { word: 'preparing', icon: 'dots' } : { word: 'answered', icon: 'check' }
}

/** A read, or a call that never became an action: one line, its arguments and answer a click away. */
export const ToolLine = memo(function ToolLine({ call }: { call: Call }) {
  const { action, name } = call
  const outcome = action ? OUTCOMES[action.state] : outcomeWithoutAction(call)
  const what = action?.description ?? call.refusal
  const why = action?.error?.message ?? (action?.state === 'declined' ? action.policy.reason : '')
  const answer = action?.result ?? call.result
  return (
    <>
      <details className="tool-line" data-testid="tool-line" data-tool={name} data-state={action?.state}>
        <summary>
          <Icon name="chevron" size={12} />
          <span className="mono">{showInvisible(name)}</span>
          <span className="tool-outcome" data-tone={outcome.tone}>
            <Icon name={outcome.icon} size={13} />
            {outcome.word}
          </span>
          {what !== undefined && (
            <span className="tool-what clip" title={showInvisible(what)}>
              {showInvisible(what)}
            </span>
          )}
        </summary>
        <div className="tool-raw">
          {why && <p>{showInvisible(why)}</p>}
          {action && <RawJson label="Arguments" value={action.arguments} />}
          {answer !== undefined && <RawJson label="Result" value={withoutMedia(answer)} />}
        </div>
      </details>
      <ResultMedia result={answer} />
    </>
  )
})
