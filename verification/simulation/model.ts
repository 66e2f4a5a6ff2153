import type { Model, ModelEvent, ModelMessage, ModelRequest } from '@countersign/core'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

/** A model's plan for a message: the tools of each step, then its last words. */
export interface Plan {
  /** Tells messages apart. */
  n: string
  steps: { tool: string; what: string }[][]
}

/** The ways in which a model's answer goes wrong, and `well`. */
export type Answering = 'well' | 'error' | 'cut_off' | 'length' | 'ends_early' | 'nonsense'

/** Dependencies of a simulated model. */
export interface ModelDeps {
  timeline: Timeline
  random: Random
  owner: Owner
  answering(): Answering
  /** How long a piece takes at most. */
  pieceMs(): number
  /** Sees every request, before it is answered. */
  onModelRequest(owner: Owner, request: ModelRequest): void
  /** Hears which request is answered in a way that may end its run. */
  onBadAnswer(request: ModelRequest): void
}

/** A model that does what the newest message with a plan says, a piece at a time. */
export const simulatedModel = (around: () => ModelDeps): Model => ({
  id: 'simulated/plan',
  async *stream(request) {
    const parts = around()
    if (parts.owner.state !== 'dead') parts.onModelRequest(parts.owner, request)
    for (const event of answer(request, parts)) {
      await nextPiece(parts, request.signal)
      yield event
    }
  },
})

function* answer(request: ModelRequest, { random, answering, onBadAnswer }: ModelDeps): Generator<ModelEvent> {
  const manner = answering()
  if (manner !== 'well') onBadAnswer(request)
  const calls = nextCalls(request.messages)
  for (const delta of calls ? ['Let me ', 'see.'].slice(random.int(3)) : ['All ', 'done.']) yield { type: 'text', delta }
  if (manner === 'error') return yield { type: 'error', code: 'model_unreachable', message: 'the provider is away', retryable: true }
  if (manner === 'ends_early') return
  for (const [i, { tool, what }] of (calls ?? []).entries()) {
    const name = manner === 'nonsense' && random.chance(0.5) ? 'noSuchTool' : tool
    // Providers repeat their ids and leave them out.
    const ids = random.pick([{}, { providerCallId: `call_${i}` }, { providerCallId: 'same' }])
    yield { type: 'tool_call_start', key: String(i), name, ...ids }
    const argumentsText = manner === 'nonsense' && random.chance(0.5) ? '{"what":' : JSON.stringify({ what })
    yield { type: 'tool_call', key: String(i), name, argumentsText, ...ids }
    if (manner === 'cut_off') return
  }
  const whole = calls ? 'tool_calls' : 'stop'
  yield {
    type: 'finish',
    reason: manner === 'length' ? 'length' : whole,
    usage: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 },
  }
}

/** The calls of the step that the newest plan has reached; undefined when it is through. */
function nextCalls(history: readonly ModelMessage[]): Plan['steps'][number] | undefined {
  const at = history.findLastIndex((message) => message.role === 'user' && message.content.startsWith('{'))
  const asked = history[at]
  if (asked?.role !== 'user') return undefined
  const { steps }: Plan = JSON.parse(asked.content)
  return steps[history.slice(at).filter((message) => message.role === 'assistant').length]
}

/** Waits for the next piece as a program on the other end of a connection does: it may be hung up on meanwhile. */
function nextPiece({ timeline, random, owner, pieceMs }: ModelDeps, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const hangUp = () => reject(new Error('hung up'))
    if (signal.aborted) return hangUp()
    signal.addEventListener('abort', hangUp, { once: true })
    timeline.after(
      random.next() * pieceMs() * (random.chance(0.1) ? 12 : 1),
      '',
      () => {
        signal.removeEventListener('abort', hangUp)
        resolve()
      },
      owner,
    )
  })
}
