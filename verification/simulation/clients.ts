import type { Claim, ClientResultBody, Principal } from '@countersign/core'
import type { Counts } from './counts.ts'
import type { WorldDatabase } from './database.ts'
import { DECIDERS } from './people.ts'
import type { Random } from './random.ts'
import type { Requests } from './requests.ts'
import type { Send, Target } from './target.ts'
import type { Timeline } from './timeline.ts'

export interface ClientsParts {
  timeline: Timeline
  random: Random
  counts: Counts
  requests: Requests
  target: Target
  database: WorldDatabase
  isCalm(): boolean
}

/** How a client ends what it has claimed. */
const ENDINGS = ['ok', 'refused', 'ambiguous', 'late', 'vanishes', 'never_begins'] as const
type Ending = (typeof ENDINGS)[number]

/** The browsers that carry out what a client is to carry out: they claim, send within their hold, and say what came of it, or vanish. */
export class Clients {
  readonly #parts: ClientsParts

  constructor(parts: ClientsParts) {
    this.#parts = parts
  }

  /** An action was approved: nobody, one, or several clients at once want it. */
  offer(actionId: string): void {
    const { random, timeline, database } = this.#parts
    if (database.action(actionId)?.executor !== 'client') return
    const atMs = random.next() * 100
    for (let clients = random.int(4); clients > 0; clients--) {
      timeline.after(atMs + random.next() * 5, '', () => this.claim(random.pick(DECIDERS), actionId, false))
    }
  }

  claim(principal: Principal, actionId: string, again: boolean): void {
    this.#parts.requests.send(principal, { do: 'claim', actionId, again }, (answer) => {
      if (answer.kind === 'claimed') this.#runAttempt(principal, answer.claim)
    })
  }

  #runAttempt(principal: Principal, { action, epoch, idempotencyKey, holdEndsAt }: Claim): void {
    const { timeline, random, counts, target, isCalm } = this.#parts
    const ending: Ending = isCalm() ? 'ok' : random.weigh({ ok: 5, refused: 1, ambiguous: 1, late: 1, vanishes: 1, never_begins: 0.5 })
    counts.hit(`client: ${ending}`)
    timeline.after(random.next() * 50, '', () => {
      // A client that gets the answer to its claim too late does not begin: by then the outcome may already count as unknown.
      if (ending === 'never_begins' || Date.parse(holdEndsAt) - timeline.nowMs < 20) return
      const fate = ending === 'refused' ? 'refused' : ending === 'ambiguous' && random.chance(0.5) ? 'request_lost' : 'ok'
      const context = { actionId: action.id, idempotencyKey }
      const send = target.sendByClient('sign', action.arguments, context, fate)
      if (ending === 'vanishes') return
      const delayMs = ending === 'late' ? 500 + random.next() * 500 : 5 + random.next() * 50
      timeline.after(delayMs, '', () => this.#report(principal, action.id, send, bodyOf(ending, epoch)))
    })
  }

  #report(principal: Principal, actionId: string, send: Send, body: ClientResultBody): void {
    this.#parts.requests.send(principal, { do: 'result', actionId, body }, (answer) => {
      if (answer.kind === 'done') send.told = 'output' in body ? 'ok' : body.error.kind === 'refused' ? 'definite' : 'unclear'
    })
  }
}

function bodyOf(ending: Ending, epoch: number): ClientResultBody {
  if (ending === 'refused') return { epoch, error: { kind: 'refused', message: 'it was refused' } }
  if (ending === 'ambiguous') return { epoch, error: { kind: 'ambiguous', message: 'no answer came' } }
  return { epoch, output: { done: true } }
}
