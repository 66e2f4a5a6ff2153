import type { Model, ModelRequest, PassedOver } from '@countersign/core'
import { endSentence } from '@countersign/core/text'
import { checkpoint } from '@countersign/toolkit/internal'
import type { CallIds } from './call-ids.ts'
import type { Deltas } from './deltas.ts'
import { boundLookUps, type KeptLookUps } from './look-ups.ts'
import { estimateUsage, type StepUsage } from './usage.ts'

export interface HeardCall {
  /** The id of the call in the session. */
  id: string
  name: string
  argumentsText: string
}

/** The result of one model call. With a `failure` no part of it may be executed. */
export interface Heard {
  text: string
  calls: HeardCall[]
  /** The look-ups that a remote brain reports. They are never calls. */
  lookedUp: KeptLookUps
  /** The brain that made them, also where the step failed or was cancelled. */
  lookedUpBy: string
  /** Undefined where the step failed and nobody said what it counted. */
  usage: StepUsage | undefined
  /** The model that answered, or that failed last. */
  model: string
  /** The model that should have answered first. */
  passedOver: readonly PassedOver[]
  providerData: string | undefined
  /** A note for people about an answer that is used all the same. */
  note: string | undefined
  failure: { code: string; error: string } | undefined
  tookMs: number
}

/** A model that never stops talking is stopped: far above what any provider sends in one step. */
const MAX_TEXT = 2_000_000
const MAX_CALLS = 128

/** Reads one model call to its end and passes text on as it arrives. Never throws for an error of the model. */
export async function listenToModel(model: Model, request: ModelRequest, deltas: Deltas, callIds: CallIds): Promise<Heard> {
  const heard: Heard = {
    text: '',
    calls: [],
    lookedUp: {},
    lookedUpBy: model.id,
    usage: undefined,
    model: model.id,
    passedOver: [],
    providerData: undefined,
    note: undefined,
    failure: undefined,
    tookMs: 0,
  }
  const begun = performance.now()
  let isWhole = false
  let started = 0
  try {
    for await (const event of model.stream(request)) {
      checkpoint('step.hearing')
      if (event.type === 'text') {
        heard.text += event.delta
        deltas.text(event.delta)
      } else if (event.type === 'reasoning') {
        deltas.reasoning(event.delta)
      } else if (event.type === 'tool_call_start') {
        started++
        deltas.toolCallStart(callIds.of(event.key, event.providerCallId), event.name)
      } else if (event.type === 'tool_call') {
        heard.calls.push({ id: callIds.of(event.key, event.providerCallId), name: event.name, argumentsText: event.argumentsText })
      } else if (event.type === 'look_ups') {
        heard.lookedUp = boundLookUps(event.lookUps)
        heard.lookedUpBy = event.model ?? model.id
      } else if (event.type === 'restart') {
        heard.text = ''
        heard.calls = []
        heard.lookedUp = {}
        started = 0
        callIds.restart()
        deltas.restart()
      } else if (event.type === 'error') {
        heard.failure = { code: event.code, error: event.message }
        heard.model = event.model ?? model.id
        break
      } else {
        isWhole = true
        heard.usage = event.usage && { ...event.usage, isEstimated: false }
        heard.model = event.model ?? model.id
        heard.passedOver = event.passedOver ?? []
        heard.providerData = event.providerData === undefined ? undefined : JSON.stringify(event.providerData)
        heard.note = event.reason === 'length' ? 'The answer was cut at the model’s length limit.' : event.note
        if (event.reason !== 'stop' && event.reason !== 'tool_calls') heard.failure = unfinished(event.reason, heard, started)
      }
      if (heard.text.length > MAX_TEXT || heard.calls.length > MAX_CALLS) {
        heard.failure = { code: 'model_error', error: 'The model’s answer was too large.' }
        break
      }
    }
  } catch (error) {
    // A caller that aborted the call looks at the signal, not at the partial answer.
    if (!request.signal.aborted) throw error
  }
  heard.tookMs = performance.now() - begun
  if (!isWhole) heard.failure ??= { code: 'model_broken_stream', error: 'The model’s answer ended before it was complete.' }
  if (!heard.failure) heard.usage ??= estimateUsage(request, saidBy(heard))
  if (heard.failure && started + heard.calls.length > 0) {
    heard.failure.error = `${endSentence(heard.failure.error)} Nothing of what it was about to do was carried out.`
  }
  return heard
}

const saidBy = ({ text, calls }: Heard): number =>
  calls.reduce((sum, { name, argumentsText }) => sum + name.length + argumentsText.length, text.length)

function unfinished(reason: 'length' | 'content_filter' | 'other', heard: Heard, started: number): Heard['failure'] {
  if (heard.calls.length === 0 && started === 0 && reason !== 'content_filter' && heard.text !== '') return undefined
  const words = {
    length: 'The model’s answer was cut at its length limit.',
    content_filter: 'The provider stopped the model’s answer (content filter).',
    other: 'The model stopped for a reason it did not name.',
  }
  return { code: reason === 'length' ? 'model_truncated' : 'model_stopped', error: words[reason] }
}
