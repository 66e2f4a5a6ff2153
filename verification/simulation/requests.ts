import type { Action, Principal } from '@countersign/core'
import type { Caller } from '../../packages/server/src/gate/index.ts'
import type { Counts } from './counts.ts'
import type { WorldDatabase } from './database.ts'
import { type Answer, ask, isWorthRepeating, type Op } from './people.ts'
import type { SimulatedProcess } from './process.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** An answer that somebody received, to be compared with the rows in the end. */
export type Told = { kind: 'decided' | 'lost'; by: string; verdict: 'approve' | 'decline'; action: Action }

export interface RequestDeps {
  timeline: Timeline
  random: Random
  database: WorldDatabase
  counts: Counts
  /** A process that listens, if one does. */
  pickProcess(): SimulatedProcess | undefined
  answerLost(): boolean
  violate(text: string): void
  name(id: string): string
}

/** Requests that nobody may send twice without a key: they would be done twice. */
const ONCE = new Set<Op['do']>(['session', 'message', 'propose', 'request', 'claim'])

/** How often somebody sends the same request until it is answered. */
const PATIENCE = 40
/** After this long without an answer it is sent again. */
const GIVE_UP_MS = 700

/** The people's side of the wire: requests arrive, are answered or not, and are repeated under the same key until they are. */
export class Requests {
  readonly told: Told[] = []
  /** Requests that still wait for their answer. */
  open = 0
  /** The processes that carry out a cancellation, once for each. */
  readonly #cancelling: SimulatedProcess[] = []
  readonly #deps: RequestDeps
  #keys = 0

  constructor(deps: RequestDeps) {
    this.#deps = deps
  }

  get isCancelling(): boolean {
    return this.#cancelling.some(({ state }) => state !== 'dead')
  }

  /** Sends a request now. @param onAnswer Called once, when it is answered. */
  send(principal: Principal, op: Op, onAnswer: (answer: Answer) => void = () => undefined): void {
    const key = `k${++this.#keys}`
    this.open++
    const once = { scope: `${principal.id} ${op.do}`, key, requestHash: JSON.stringify(op) }
    const hasKey = ONCE.has(op.do) || this.#deps.random.chance(0.7)
    this.#try({ principal, ...(hasKey ? { once } : {}) }, op, onAnswer, key, 1)
  }

  #try(caller: Caller, op: Op, onAnswer: (answer: Answer) => void, key: string, times: number): void {
    const { timeline, random, counts } = this.#deps
    let isOver = false
    const again = (why: string) => {
      if (isOver) return
      isOver = true
      if (times >= PATIENCE) {
        this.open--
        return
      }
      counts.hit(`request: ${why}`)
      timeline.after(20 + random.next() * 200, '', () => this.#try(caller, op, onAnswer, key, times + 1))
    }
    const process = this.#deps.pickProcess()
    if (!process?.engine) {
      again('nobody listens')
      return
    }
    const { engine } = process
    timeline.after(GIVE_UP_MS, '', () => again('not answered'))
    timeline.after(
      0.1 + random.next() * 3,
      `is asked by ${caller.principal.name} (${key}): ${this.#say(op)}`,
      () => {
        const asked = ask(engine, op, caller)
        if (op.do === 'cancel') {
          this.#cancelling.push(process)
          const end = () => this.#cancelling.splice(this.#cancelling.indexOf(process), 1)
          asked.then(end, end)
        }
        asked.then(
          (answer) => {
            if (process.state === 'dead') return
            this.#check(caller.principal, op, answer)
            timeline.say(`${process.name} answers ${key}: ${answer.kind}`)
            counts.hit(`answer: ${answer.kind}`)
            if (answer.kind === 'lost' && answer.action.state === 'expired') counts.hit('told that its time was over')
            if (this.#deps.answerLost()) return counts.hit('request: answer lost')
            timeline.after(0.1 + random.next() * 3, '', () => {
              if (isOver) return
              isOver = true
              this.open--
              onAnswer(answer)
            })
          },
          (error) => {
            if (process.state === 'dead') return
            if (!isWorthRepeating(error)) this.#deps.violate(`${caller.principal.name} was told: ${error}`)
            timeline.say(`${process.name} fails ${key}: ${error}`)
            timeline.after(0.1 + random.next() * 3, '', () => again('failed'))
          },
        )
      },
      process,
    )
  }

  /** I8 and I2 from where it counts: what a person is told stands in the rows at that moment. */
  #check(principal: Principal, op: Op, answer: Answer): void {
    const { database, violate, name } = this.#deps
    if (op.do !== 'decide' || (answer.kind !== 'decided' && answer.kind !== 'lost')) return
    this.told.push({ kind: answer.kind, by: principal.id, verdict: op.verdict, action: answer.action })
    if (answer.kind === 'decided' && !database.hasVote(op.actionId, principal.id, op.verdict)) {
      violate(`I8: ${principal.name} was told that ${name(op.actionId)} is decided, and the rows know nothing of it`)
    }
    if (answer.kind === 'lost' && database.action(op.actionId)?.state === 'proposed') {
      violate(`I2: ${principal.name} was told that ${name(op.actionId)} is decided, and it is not`)
    }
  }

  #say(op: Op): string {
    const { name } = this.#deps
    return Object.values({
      ...op,
      ...('actionId' in op && op.actionId !== undefined ? { actionId: name(op.actionId) } : {}),
      ...('sessionId' in op ? { sessionId: name(op.sessionId) } : {}),
      ...('body' in op ? { body: JSON.stringify(op.body) } : {}),
      ...('plan' in op ? { plan: JSON.stringify(op.plan.steps.map((step) => step.map((call) => call.tool))) } : {}),
    })
      .filter((value) => value !== undefined)
      .join(' ')
  }
}
