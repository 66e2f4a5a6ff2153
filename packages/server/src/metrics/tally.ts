import { ACTION_STATES, type ActionState, isSettled, type Verdict } from '@countersign/core'
import { endsOrIsUnknown } from '../audit/index.ts'
import type { Happening } from '../store/index.ts'
import { createCounter } from './counter.ts'
import { createHistogram, type Histogram } from './histogram.ts'
import type { Metric } from './text.ts'

/** Counts what this process has committed since it started. */
export interface Tally {
  note(happened: readonly Happening[]): void
  metrics(): Metric[]
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const DECISION_BOUNDS = [1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY, 7 * DAY]
const START_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]
const CALL_BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, MINUTE, 5 * MINUTE, HOUR]

const VERDICTS = ['allow', 'ask', 'deny'] as const satisfies readonly Verdict[]

type Moved = Extract<Happening, { what: 'moved' }>
type ModelCall = Extract<Happening, { what: 'model_call' }>

export function createTally(): Tally {
  const proposed = createCounter<{ verdict: Verdict }>(VERDICTS.map((verdict) => ({ verdict })))
  const decisions = createCounter<{ verdict: 'approved' | 'declined' }>([{ verdict: 'approved' }, { verdict: 'declined' }])
  const ended = createCounter<{ state: ActionState }>(ACTION_STATES.filter(isSettled).map((state) => ({ state })))
  const calls = createCounter<{ agent: string; model: string; outcome: 'answered' | 'fell_back' | 'failed' }>()
  const tokens = createCounter<{ agent: string; model: string; type: string }>()
  const decided = createHistogram(DECISION_BOUNDS)
  const started = createHistogram(START_BOUNDS)
  const executed = createHistogram(CALL_BOUNDS)
  const answered = createHistogram(CALL_BOUNDS)

  function noteMove({ kind, state, executor, isByPerson, tookMs }: Moved): void {
    if (endsOrIsUnknown(kind) && isSettled(state)) ended.add({ state })
    if ((kind === 'approved' || kind === 'declined') && isByPerson) {
      decisions.add({ verdict: kind })
      observe(decided, tookMs)
    }
    // An action that a client executes starts when the client claims it: that says nothing about this server.
    if (kind === 'executing' && executor === 'server') observe(started, tookMs)
    if (kind === 'succeeded' || kind === 'failed' || kind === 'outcome_unknown') observe(executed, tookMs)
  }

  function noteCall({ call, tookMs }: ModelCall): void {
    const { agent, model } = call
    calls.add({ agent, model, outcome: call.error !== null ? 'failed' : call.fell_back !== null ? 'fell_back' : 'answered' })
    tokens.add({ agent, model, type: 'input' }, call.input_tokens)
    tokens.add({ agent, model, type: 'cached_input' }, call.cached_input_tokens)
    tokens.add({ agent, model, type: 'cache_write' }, call.cache_write_tokens)
    tokens.add({ agent, model, type: 'output' }, call.output_tokens)
    answered.observe(tookMs)
  }

  return {
    note(happened) {
      for (const one of happened) {
        if (one.what === 'moved') noteMove(one)
        else if (one.what === 'model_call') noteCall(one)
        else {
          proposed.add({ verdict: one.verdict })
          if (isSettled(one.state)) ended.add({ state: one.state })
        }
      }
    },
    metrics: () => [
      counter('countersign_proposed_total', 'Actions that were proposed, by what the policy said of them.', proposed),
      counter(
        'countersign_decisions_total',
        'Decisions of people, each counted when an action has all the approvals it needs or is declined.',
        decisions,
      ),
      counter(
        'countersign_ended_total',
        'Actions that ended, by the state they ended in. An action of unknown outcome counts once more when its outcome is known, and a retry counts each time.',
        ended,
      ),
      histogram('countersign_decision_seconds', 'From the proposal of an action to the decision of people.', decided),
      histogram(
        'countersign_start_seconds',
        'From the approval of an action, by people or policy, to its start. Waiting for a concurrency limit counts.',
        started,
      ),
      histogram('countersign_execution_seconds', 'From the start of an attempt to its end.', executed),
      counter(
        'countersign_model_calls_total',
        'Calls of models that were stored, by agent, model and outcome: answered, fell_back, failed.',
        calls,
      ),
      counter(
        'countersign_model_tokens_total',
        'Tokens of model calls by agent, model and type: input, of which cached_input and cache_write, and output. Some are estimates.',
        tokens,
      ),
      histogram('countersign_model_call_seconds', 'How long a model call took, from the request to the end of the answer.', answered),
    ],
  }
}

function observe(histogram: Histogram, tookMs: number | undefined): void {
  if (tookMs !== undefined) histogram.observe(tookMs)
}

const counter = (name: string, help: string, { samples }: Pick<Histogram, 'samples'>): Metric => ({
  name,
  help,
  type: 'counter',
  samples: samples(),
})

const histogram = (name: string, help: string, { samples }: Pick<Histogram, 'samples'>): Metric => ({
  name,
  help,
  type: 'histogram',
  samples: samples(),
})
