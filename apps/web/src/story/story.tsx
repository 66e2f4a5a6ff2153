import type { Action, ActionStory, SeenBy } from '@countersign/client'
import { listEdits, showInvisible, spanText } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { textOf } from '../action/edited-value.ts'
import { sentenceOf } from '../record/sentences.ts'
import { useServices } from '../services.tsx'
import { LineTime } from '../time/line-time.tsx'
import { useNow } from '../time/use-now.ts'
import { Loaded } from '../ui/index.ts'
import { type SpanKind, spansOf } from './spans.ts'
import './story.css'

/** Shows the story of one action: its time to scale, then a line for each step. */
export function Story({ action }: { action: Action }) {
  const { client } = useServices()
  const story = useQuery({
    // Every change of the action adds a step.
    queryKey: ['action', action.id, 'story', action.revision, action.updatedAt],
    queryFn: ({ signal }) => client.actions.story(action.id, { signal }),
    placeholderData: (before) => before,
  })
  return (
    <section aria-labelledby="story-title" data-testid="story">
      <h2 id="story-title">Story</h2>
      <Loaded of={story} height={160}>
        {(data) => (
          <>
            <Bar action={action} steps={data.steps} />
            <Steps action={action} story={data} />
          </>
        )}
      </Loaded>
    </section>
  )
}

const SPAN_WORDS: Readonly<Record<SpanKind, string>> = {
  waiting: 'Waited for people',
  starting: 'Waited to start',
  running: 'Ran',
  resting: 'Nothing happened',
}

/** The spans to scale; each is wide enough to be seen. */
function Bar({ action, steps }: { action: Action; steps: ActionStory['steps'] }) {
  const nowMs = useNow()
  const spans = spansOf(steps, action, nowMs).filter(({ fromMs, toMs, kind }) => toMs > fromMs || kind !== 'starting')
  return (
    <ol className="story-bar" aria-label="Time, to scale" data-testid="story-bar" data-outcome={action.state}>
      {spans.map(({ kind, fromMs, toMs }) => (
        <li key={`${kind} ${fromMs}`} data-span={kind} data-ms={toMs - fromMs} style={{ flexGrow: Math.max(toMs - fromMs, 1) }}>
          <span className="story-bar-text" title={`${SPAN_WORDS[kind]} ${spanText(toMs - fromMs)}`}>
            {SPAN_WORDS[kind]} {spanText(toMs - fromMs)}
          </span>
        </li>
      ))}
    </ol>
  )
}

function Steps({ action, story: { steps, names, seen, toldAt, answered } }: { action: Action; story: ActionStory }) {
  const agent = showInvisible(action.agent ?? 'the agent')
  return (
    <ol className="story-steps">
      {inOrder(steps, seen).map((step) =>
        'by' in step ? (
          <li key={`seen ${step.by.id} ${step.revision}`} data-testid="story-step" data-kind="seen">
            <LineTime at={step.at} />
            <span>
              {showInvisible(step.by.name)} saw it <small>{step.revision > 1 && `revision ${step.revision}`}</small>
            </span>
          </li>
        ) : (
          <li key={step.id} data-testid="story-step" data-kind={step.kind}>
            <LineTime at={step.at} />
            <span>
              {sentenceOf(step, 'it', names)} <Edits step={step} before={steps.slice(0, steps.indexOf(step))} />{' '}
              <Print action={action} step={step} />
            </span>
          </li>
        ),
      )}
      {toldAt !== null && (
        <li data-testid="story-step" data-kind="told">
          <LineTime at={toldAt} />
          <span>The result went to {agent}</span>
        </li>
      )}
      {answered !== null && (
        <li data-testid="story-step" data-kind="answered">
          <LineTime at={answered.at} />
          <span>
            {agent} answered{' '}
            <small>
              {[
                answered.model === null ? '' : showInvisible(answered.model),
                answered.inputTokens === null ? '' : `${(answered.inputTokens + (answered.outputTokens ?? 0)).toLocaleString('en')} tokens`,
              ]
                .filter(Boolean)
                .join(' · ')}
            </small>
          </span>
        </li>
      )}
    </ol>
  )
}

/** Steps and looks by their time; the steps keep their own order. */
const inOrder = (steps: ActionStory['steps'], seen: ActionStory['seen']): (ActionStory['steps'][number] | SeenBy)[] =>
  [...steps, ...seen].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))

/** The most edits that are shown here. The earlier revisions show all of them. */
const MOST_EDITS = 3

/** Shows the arguments that a person edited, each before and after. */
function Edits({ step: { data }, before }: { step: ActionStory['steps'][number]; before: ActionStory['steps'] }) {
  const earlier = before.findLast((step) => step.data?.arguments !== undefined)?.data
  if (data?.why !== 'edit' || !earlier) return null
  const edits = listEdits(earlier.arguments, data.arguments)
  return (
    <>
      {edits.slice(0, MOST_EDITS).map(({ path, oldValue, newValue }) => (
        <span key={path} className="story-edit">
          {showInvisible(path)} <del>{textOf(oldValue)}</del> → <ins>{textOf(newValue)}</ins>{' '}
        </span>
      ))}
      {edits.length > MOST_EDITS && <span>and {edits.length - MOST_EDITS} more </span>}
    </>
  )
}

/** The kinds of steps that send something to the target. */
const SENDS: readonly string[] = ['executing', 'resent', 'retried']

/** Revision, digest, where it was sent, attempt and key: what somebody compares, in small. */
function Print({ action, step: { data, kind } }: { action: Action; step: ActionStory['steps'][number] }) {
  if (data === null) return <small>Its contents were redacted</small>
  const { revision, digest, attempt, key } = data
  const isAttempt = typeof attempt === 'number' && kind !== 'proposed'
  const isSent = isAttempt && SENDS.includes(kind)
  const parts = [
    typeof revision === 'number' && revision > 1 ? `revision ${revision}` : '',
    kind === 'proposed' && typeof data.precondition === 'string' ? 'current values read' : '',
    !isAttempt && typeof digest === 'string' ? `digest ${digest.replace('sha256:', '').slice(0, 8)}` : '',
    isSent && action.executor === 'server' ? `sent to ${action.destination}` : '',
    isAttempt ? `attempt ${attempt}` : '',
    // The step that sent the request shows the key.
    isAttempt && kind !== 'succeeded' && typeof key === 'string' ? `key ${key}` : '',
  ]
  return <small>{showInvisible(parts.filter(Boolean).join(' · '))}</small>
}
