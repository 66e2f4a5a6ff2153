import type { Model, ModelErrorCode, ModelEvent, ModelRequest } from '@countersign/core'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Circuits } from './circuit.ts'
import { type ModelErrorEvent, modelError } from './errors.ts'
import { type Round, startRound } from './fallback-round.ts'

/** How to react to a failure. */
export type FailureRule =
  /** Another model may succeed. */
  | 'next'
  /** The provider states when to retry: a short time is waited, for a longer one another model is called. */
  | 'wait'
  /** Only a model with a larger context helps; calling all others would waste time and money. */
  | 'larger'
  /** People have to fix it. Another model is called only where the configuration allows it. */
  | 'refused'
  | 'filtered'

/** The reaction to each failure, the same for every model. */
export const FAILURE_RULES: Readonly<Record<ModelErrorCode, FailureRule>> = {
  model_unreachable: 'next',
  model_overloaded: 'next',
  model_rate_limited: 'wait',
  model_context_exceeded: 'larger',
  model_refused_request: 'refused',
  model_filtered: 'filtered',
  model_broken_stream: 'next',
  model_error: 'next',
}

/** A model of the chain. */
export interface ChainLink {
  model: Model
  /** Its context size, where the configuration states it. */
  contextTokens?: number | undefined
}

export interface ModelChainOptions {
  /** In the order in which they are called. The first is the preferred one. */
  links: readonly [ChainLink, ...ChainLink[]]
  /** Further reasons to call another model. */
  alsoOn: readonly ('refused' | 'filtered')[]
  circuits: Circuits
  clock: Clock
  log: Pick<Logger, 'warn' | 'error'>
}

/** The longest wait for a model that limits requests, when there is another model to call. */
const MAX_WAIT_MS = 5_000
/** The same when there is no other. */
const MAX_LONELY_WAIT_MS = 60_000
const MAX_WAITS = 2

/**
 * Combines several models into one: when one fails, the next makes the step, by {@link FAILURE_RULES}. The output of a failed model is
 * discarded with a `restart`, so that none of it becomes an action; the `finish` names the model that answered and the ones that were
 * skipped. A failed model is paused for a while, but called nevertheless when no other answers.
 * @example
 * const model = modelChain({ links: [{ model: first }, { model: second }], alsoOn: [], circuits: createCircuits(thisMachine), clock, log })
 */
export function modelChain(options: ModelChainOptions): Model {
  const { links, circuits } = options
  return {
    id: links[0].model.id,
    async *stream(request) {
      const round = startRound(links, circuits)
      const said = { something: false }
      for (let link = round.next(); link; link = round.next()) {
        const failure = yield* askPatiently({ ...options, round, said }, link, request)
        if (!failure) return
        if (request.signal.aborted) return yield failure
        noteFailure(options, link, round, failure)
      }
      yield round.error()
    },
  }
}

/** A chain in one step of a run. */
interface ChainStep extends ModelChainOptions {
  round: Round
  /** Whether a model has sent anything in this step. */
  said: { something: boolean }
}

/** Calls one model, and retries it after each wait that it requested. Returns why it failed; undefined when it ended the step. */
async function* askPatiently(
  step: ChainStep,
  link: ChainLink,
  request: ModelRequest,
): AsyncGenerator<ModelEvent, ModelErrorEvent | undefined> {
  const { round, said, log, clock } = step
  for (let waits = 0; ; waits++) {
    if (said.something) yield { type: 'restart' }
    said.something = false
    const failure = yield* ask(step, link, request)
    if (!failure || FAILURE_RULES[failure.code] !== 'wait' || request.signal.aborted) return failure
    const { retryable, retryAfterMs } = failure
    const longest = round.hasOther ? MAX_WAIT_MS : MAX_LONELY_WAIT_MS
    if (!retryable || retryAfterMs === undefined || retryAfterMs > longest || waits === MAX_WAITS) return failure
    log.warn({ model: link.model.id, waitMs: retryAfterMs }, 'model.retry_scheduled')
    await wait(clock, retryAfterMs, request.signal)
  }
}

async function* ask(
  { alsoOn, circuits, log, round, said }: ChainStep,
  { model }: ChainLink,
  request: ModelRequest,
): AsyncGenerator<ModelEvent, ModelErrorEvent | undefined> {
  let isHeard = false
  try {
    for await (const event of model.stream(request)) {
      if (event.type === 'error') {
        isHeard = !request.signal.aborted
        return event
      }
      if (event.type !== 'finish') {
        said.something = true
        // They go back to the brain that made them, also when this answer comes to nothing.
        yield event.type === 'look_ups' ? { ...event, model: model.id } : event
        continue
      }
      isHeard = true
      circuits.succeeded(model.id)
      if (event.reason === 'content_filter' && alsoOn.includes('filtered')) {
        return modelError('model_filtered', `the content filter of ${model.id} stopped the answer`)
      }
      const passedOver = round.passedOver()
      if (passedOver.length > 0) log.warn({ model: model.id, passedOver }, 'model.fallback')
      yield { ...event, model: model.id, ...(passedOver.length > 0 && { passedOver }) }
      return undefined
    }
    isHeard = !request.signal.aborted
    return modelError('model_broken_stream', `the answer of ${model.id} ended without a finish`)
  } finally {
    // The caller stopped listening, so nothing is known about the model's state.
    if (!isHeard) circuits.left(model.id)
  }
}

function noteFailure(
  { alsoOn, circuits, log }: ModelChainOptions,
  { model, contextTokens }: ChainLink,
  round: Round,
  failure: ModelErrorEvent,
) {
  round.fail(failure)
  const rule = FAILURE_RULES[failure.code]
  switch (rule) {
    case 'next':
    case 'wait':
      circuits.failed(model.id, failure.code, failure.retryAfterMs)
      return
    // The model answered, so the failure says nothing about its availability.
    case 'larger':
      circuits.succeeded(model.id)
      round.keep((other) => other.contextTokens !== undefined && other.contextTokens > (contextTokens ?? 0))
      return
  }
  circuits.succeeded(model.id)
  if (!alsoOn.includes(rule)) return round.keep(() => false)
  // A revoked key or a wrong name is logged: while another model answers, the failure would stay unnoticed.
  if (rule === 'refused') log.error({ model: model.id, code: failure.code, message: failure.message }, 'model.refused')
}

/** Waits, but ends early when the step is given up. */
function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>()
  const stop = clock.after(ms, over.resolve)
  signal.addEventListener('abort', () => over.resolve(), { once: true })
  if (signal.aborted) over.resolve()
  return over.promise.finally(stop)
}
