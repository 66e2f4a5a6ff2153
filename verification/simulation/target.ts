import { type ExecuteContext, type JsonObject, type JsonValue, ToolError, type Verification, type VerifyContext } from '@countersign/core'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

/** The fate of one send. */
export const FATES = [
  // It arrives, takes effect and is answered.
  'ok',
  // The target answers and does nothing.
  'refused',
  // It never leaves this house.
  'unreachable',
  // It takes effect, and the answer gets lost on the way back.
  'answer_lost',
  // It gets lost on the way there.
  'request_lost',
  // It takes effect at some time, perhaps long after everybody stopped waiting.
  'slow',
  // It arrives and takes effect long after everybody stopped waiting, and after the first looks did not find it.
  'late',
  // As slow, by a tool that does not heed its signal.
  'deaf',
  // The tool's own code fails, before or after it has sent anything.
  'broken_before',
  'broken_after',
] as const
export type Fate = (typeof FATES)[number]

/** One time that a tool was called to carry something out. */
export interface Send {
  readonly n: number
  readonly actionId: string
  readonly key: string
  readonly from: Owner
  readonly tool: string
  readonly fate: Fate
  /** When it was sent, since the beginning of the world. */
  readonly atMs: number
  /** True once the target did something because of this send. */
  hadEffect: boolean
  /** The answer of the tool's code to the engine; undefined while it has not, or told a process that was dead by then. */
  told: 'ok' | 'definite' | 'unclear' | undefined
  isUnderWay: boolean
}

/** How the target answers when it is asked what became of an attempt. */
export type Telling = 'truth' | 'no_idea' | 'error' | 'silence'

export interface Effect {
  readonly actionId: string
  readonly key: string
  readonly send: number
}

export interface TargetParts {
  timeline: Timeline
  random: Random
  /** The tool's timeout, of which slow answers take up to three. */
  timeoutMs: number
  /** The longest that a late request takes to arrive. */
  lateMs: number
  fateOf(tool: string): Fate
  tellingOf(): Telling
  /** Sees what somebody found who asked. */
  onFound(done: boolean): void
  /** Sees what is about to be sent. */
  onSend(tool: string, args: JsonObject, context: Pick<ExecuteContext, 'actionId' | 'idempotencyKey'>): void
  name(id: string): string
}

/** Somebody's browser: it does not die with any server. */
const CLIENT: Owner = { name: 'a client', state: 'running' }

/** The service behind the tools: another machine, which outlives every crash of ours. What it did stays done. */
export class Target {
  readonly sends: Send[] = []
  readonly effects: Effect[] = []
  readonly #parts: TargetParts
  /** Answers by idempotency key, where the tool's target honours keys. */
  readonly #byKey = new Map<string, JsonValue | 'refused'>()

  constructor(parts: TargetParts) {
    this.#parts = parts
  }

  /** Sends what a tool was called with, and answers as its code would. */
  send(
    from: Owner,
    tool: { name: string; keyed: boolean; writes: boolean },
    args: JsonObject,
    context: ExecuteContext,
  ): Promise<JsonValue> {
    const { timeline, random } = this.#parts
    this.#parts.onSend(`shop.${tool.name}`, args, context)
    const fate = this.#parts.fateOf(tool.name)
    const { signal } = context
    const send = this.#newSend(from, tool.name, context, fate)

    const isSlow = fate === 'slow' || fate === 'deaf'
    const there =
      fate === 'late' ? random.next() * this.#parts.lateMs : isSlow ? random.next() * 2 * this.#parts.timeoutMs : 0.1 + random.next() * 4
    const back = isSlow ? random.next() * this.#parts.timeoutMs : 0.1 + random.next() * 4
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>()
    const answer = (told: Send['told'], tell: () => void) => {
      timeline.after(
        back,
        `hears of send ${send.n}: ${told}`,
        () => {
          send.told ??= told
          tell()
        },
        from,
      )
    }
    const unclear = () => answer('unclear', () => reject(new ToolError('ambiguous', 'no answer came')))

    timeline.after(there, `send ${send.n} arrives`, () => {
      send.isUnderWay = false
      if (fate === 'unreachable') return answer('definite', () => reject(new ToolError('unreachable', 'nobody listens there')))
      if (fate === 'request_lost') return unclear()
      if (fate === 'broken_before') return answer('unclear', () => reject(new Error('out of order')))
      const reply = this.#arrive(send, tool, args, fate === 'refused')
      if (fate === 'answer_lost') return unclear()
      if (fate === 'broken_after') return answer('unclear', () => reject(new Error('out of order')))
      if (reply === 'refused') return answer('definite', () => reject(new ToolError('refused', 'it was refused')))
      return answer('ok', () => resolve(reply))
    })
    if (fate !== 'deaf') {
      signal.addEventListener('abort', () => {
        send.told ??= 'unclear'
        reject(new ToolError('ambiguous', 'it took too long'))
      })
    }
    return promise
  }

  /** True when nothing is on its way. */
  get isIdle(): boolean {
    return this.sends.every((send) => !send.isUnderWay)
  }

  /** The finding of a person who looks for themselves: whether it happened, or undefined while that may still change. */
  truthOf(actionId: string): boolean | undefined {
    const sends = this.sends.filter((send) => send.actionId === actionId)
    if (sends.some((send) => send.isUnderWay)) return undefined
    return this.effects.some((effect) => effect.actionId === actionId)
  }

  /** A client carries an action out by itself: what it sends arrives, and has its effect unless it is refused. */
  sendByClient(tool: string, args: JsonObject, context: Pick<ExecuteContext, 'actionId' | 'idempotencyKey'>, fate: Fate): Send {
    const { timeline, random } = this.#parts
    this.#parts.onSend(`shop.${tool}`, args, context)
    const send = this.#newSend(CLIENT, tool, context, fate)
    timeline.after(0.1 + random.next() * 4, `send ${send.n} arrives`, () => {
      send.isUnderWay = false
      if (fate !== 'unreachable' && fate !== 'request_lost') this.#arrive(send, { keyed: false, writes: true }, args, fate === 'refused')
    })
    return send
  }

  #newSend(
    from: Owner,
    tool: string,
    { actionId, idempotencyKey: key }: Pick<ExecuteContext, 'actionId' | 'idempotencyKey'>,
    fate: Fate,
  ): Send {
    const n = this.sends.length + 1
    const send: Send = {
      n,
      actionId,
      key,
      from,
      tool,
      fate,
      atMs: this.#parts.timeline.elapsedMs,
      hadEffect: false,
      told: undefined,
      isUnderWay: true,
    }
    this.sends.push(send)
    this.#parts.timeline.say(`${from.name} send ${n}: ${tool} for ${this.#parts.name(actionId)} (${fate})`)
    return send
  }

  /** Says what became of an attempt, if it feels like it. */
  tell(from: Owner, { actionId, idempotencyKey, signal }: VerifyContext): Promise<Verification> {
    const { timeline, random, name } = this.#parts
    const manner = this.#parts.tellingOf()
    timeline.say(`${from.name} asks about ${name(actionId)} (${manner})`)
    const { promise, resolve, reject } = Promise.withResolvers<Verification>()
    signal.addEventListener('abort', () => reject(new Error('it took too long')))
    if (manner === 'silence') return promise
    timeline.after(0.1 + random.next() * 4, '', () => {
      const effect = this.effects.find((one) => one.actionId === actionId && one.key === idempotencyKey)
      if (manner === 'truth') this.#parts.onFound(effect !== undefined)
      // Nobody promises that nothing will come of it while it is under way.
      const isFinal = this.truthOf(actionId) === false && random.chance(0.3)
      const found: Verification = effect
        ? { done: true, output: { by: effect.send } }
        : { done: false, ...(isFinal && { authoritative: true }) }
      timeline.after(
        0.1 + random.next() * 4,
        `hears of ${name(actionId)}: ${manner === 'truth' ? found.done : manner}`,
        () => (manner === 'error' ? reject(new Error('the target is away')) : resolve(manner === 'truth' ? found : { done: 'unknown' })),
        from,
      )
    })
    return promise
  }

  /** Handles one request that reached the target. */
  #arrive(send: Send, tool: { keyed: boolean; writes: boolean }, args: JsonObject, refuses: boolean): JsonValue | 'refused' {
    const known = tool.keyed ? this.#byKey.get(send.key) : undefined
    if (known !== undefined) return known
    const reply = refuses ? 'refused' : { done: args, by: send.n }
    if (tool.keyed) this.#byKey.set(send.key, reply)
    if (!refuses && tool.writes) {
      send.hadEffect = true
      this.effects.push({ actionId: send.actionId, key: send.key, send: send.n })
    }
    return reply
  }
}
