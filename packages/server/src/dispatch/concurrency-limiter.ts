import type { Clock } from '../clock.ts'

/** How long a piece of work waits for its turn. */
export interface TurnWait {
  clock: Clock
  ms: number
}

/** Limits how many pieces of work run at the same time: further work waits for its turn, first come, first served. */
export interface ConcurrencyLimiter {
  /**
   * Resolves to true when the work is done; to false when it does not begin, because its wait or the limiter has ended.
   * @param wait Default: without a limit.
   */
  run(kind: string, work: () => Promise<void>, wait?: TurnWait): Promise<boolean>
  /** Takes a slot for work that begins at once, and returns what gives it back; undefined when none is free. */
  enter(kind: string): (() => void) | undefined
  /** How many pieces of work wait for their turn. */
  readonly waiting: number
  /** How many more pieces of work could begin, if their kind has room. */
  readonly room: number
  /** Begins nothing more, and rejects the work that waits. */
  close(): void
}

interface Waiting {
  ticket: number
  begin(hasSlot: boolean): void
}

/**
 * Creates a limiter.
 * @param count The number of slots.
 * @param perKind How many of them one kind of work (a tool) takes at most. Default: half, so that a slow tool does not block all others.
 */
export function createConcurrencyLimiter(count: number, perKind = Math.ceil(count / 2)): ConcurrencyLimiter {
  const running = new Map<string, number>()
  const waiting = new Map<string, Waiting[]>()
  let free = count
  let tickets = 0
  let isClosed = false

  const hasRoom = (kind: string) => free > 0 && (running.get(kind) ?? 0) < perKind

  function enter(kind: string): void {
    free--
    running.set(kind, (running.get(kind) ?? 0) + 1)
  }

  function leave(kind: string): void {
    free++
    const left = (running.get(kind) ?? 0) - 1
    if (left > 0) running.set(kind, left)
    else running.delete(kind)
    beginNext()
  }

  /** Gives a slot to the piece of work that has waited longest, among the kinds that may have another slot. */
  function beginNext(): void {
    let next: { kind: string; queue: Waiting[]; ticket: number } | undefined
    for (const [kind, queue] of waiting) {
      const ticket = queue[0]?.ticket
      if (ticket !== undefined && hasRoom(kind) && ticket < (next?.ticket ?? Number.POSITIVE_INFINITY)) next = { kind, queue, ticket }
    }
    if (!next) return
    const first = next.queue.shift()
    if (next.queue.length === 0) waiting.delete(next.kind)
    enter(next.kind)
    first?.begin(true)
  }

  const countWaiting = () => [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0)

  /** Resolves to true when the slot is taken, to false when it will not be. */
  async function turn(kind: string, wait: TurnWait | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const one: Waiting = { ticket: tickets++, begin: resolve }
    const queue = waiting.get(kind) ?? []
    waiting.set(kind, queue)
    queue.push(one)
    const stopWaiting = wait?.clock.after(wait.ms, () => {
      const place = queue.indexOf(one)
      // Otherwise it has its turn by now.
      if (place < 0) return
      queue.splice(place, 1)
      if (queue.length === 0) waiting.delete(kind)
      resolve(false)
    })
    const hasSlot = await promise
    stopWaiting?.()
    return hasSlot
  }

  return {
    enter(kind) {
      if (isClosed || !hasRoom(kind)) return undefined
      enter(kind)
      return () => leave(kind)
    },
    async run(kind, work, wait) {
      if (isClosed) return false
      if (hasRoom(kind)) enter(kind)
      else if (!(await turn(kind, wait))) return false
      try {
        await work()
        return true
      } finally {
        leave(kind)
      }
    },
    get waiting() {
      return countWaiting()
    },
    get room() {
      return Math.max(0, free - countWaiting())
    },
    close() {
      isClosed = true
      const sentAway = [...waiting.values()].flat()
      waiting.clear()
      for (const { begin } of sentAway) begin(false)
    },
  }
}
