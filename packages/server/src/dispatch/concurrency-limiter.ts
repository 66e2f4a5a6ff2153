/** Limits how many pieces of work run at the same time: further work waits for its turn, first come, first served. */
export interface ConcurrencyLimiter {
  /** Resolves when the work is done, or when it will not begin because the lanes were closed. */
  run(kind: string, work: () => Promise<void>): Promise<void>
  /** Takes a lane for work that begins at once, and returns what gives it back; undefined when none is free. */
  enter(kind: string): (() => void) | undefined
  /** How many pieces of work wait for their turn. */
  readonly waiting: number
  /** Begins nothing more, and rejects the work that waits. */
  close(): void
}

interface Waiting {
  ticket: number
  begin(hasLane: boolean): void
}

/**
 * Creates a limiter in which one kind of work (a tool) takes at most half of the lanes, so that a slow tool does not block all others.
 * @param count The number of lanes, at least 1.
 */
export function createConcurrencyLimiter(count: number): ConcurrencyLimiter {
  const perKind = Math.ceil(count / 2)
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

  /** Gives a lane to the piece of work that has waited longest, among the kinds that may have another lane. */
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

  return {
    enter(kind) {
      if (isClosed || !hasRoom(kind)) return undefined
      enter(kind)
      return () => leave(kind)
    },
    async run(kind, work) {
      if (isClosed) return
      if (hasRoom(kind)) enter(kind)
      else {
        const { promise: turn, resolve: begin } = Promise.withResolvers<boolean>()
        const queue = waiting.get(kind) ?? []
        waiting.set(kind, queue)
        queue.push({ ticket: tickets++, begin })
        if (!(await turn)) return
      }
      try {
        await work()
      } finally {
        leave(kind)
      }
    },
    get waiting() {
      return [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0)
    },
    close() {
      isClosed = true
      const sentAway = [...waiting.values()].flat()
      waiting.clear()
      for (const { begin } of sentAway) begin(false)
    },
  }
}
