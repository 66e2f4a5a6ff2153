/** Something that happens to a process only while it runs: a dead one's events are dropped, a paused one's wait for it. */
export interface Owner {
  readonly name: string
  state: 'running' | 'paused' | 'dead'
}

interface Entry {
  dueMs: number
  order: number
  owner: Owner | undefined
  label: string
  run: () => void
  isOff: boolean
}

/** Called before what is due happens to a process; true when it does not happen, because the process died of it. */
type Interference = (owner: Owner, label: string) => boolean

/** The turn of the event loop: by then every promise that was settled has been heard by everybody. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Virtual time. Whatever waits (a commit, an answer, a timer) is an event here; they happen one by one in the order of their times,
 * and between two of them everything that the first one set going has run until it waits again. So the order of events is the only
 * order there is, and it is drawn from the seed.
 */
export class Timeline {
  /** The events so far, a line each. */
  readonly history: string[] = []
  steps = 0
  #nowMs: number
  readonly #startMs: number
  readonly #heap: Entry[] = []
  readonly #held = new Map<Owner, Entry[]>()
  #order = 0
  interfere: Interference = () => false
  #acting: Owner | undefined
  #isOver = false

  constructor(startMs: number) {
    this.#startMs = startMs
    this.#nowMs = startMs
  }

  /** Whole milliseconds, as a clock says it. */
  get nowMs(): number {
    return Math.floor(this.#nowMs)
  }

  /** Milliseconds since the beginning, with their fraction. */
  get elapsedMs(): number {
    return this.#nowMs - this.#startMs
  }

  /** The owner of the current event, and of everything that it sets going. */
  get acting(): Owner | undefined {
    return this.#acting
  }

  /** Makes `run` happen `delayMs` from now. Returns what takes it back. Without a label it leaves no line in the history. */
  after(delayMs: number, label: string, run: () => void, owner?: Owner): () => void {
    const entry = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, owner, label, run, isOff: false }
    this.#push(entry)
    return () => {
      entry.isOff = true
    }
  }

  say(line: string): void {
    this.history.push(`${this.elapsedMs.toFixed(3).padStart(10)} ${line}`)
  }

  /** Makes what waited for a paused process happen, in its order, from now on. */
  resume(owner: Owner): void {
    owner.state = 'running'
    for (const entry of this.#held.get(owner) ?? []) {
      entry.dueMs = this.#nowMs
      entry.order = this.#order++
      this.#push(entry)
    }
    this.#held.delete(owner)
  }

  /** Ends {@link runUntil} after what is happening now. */
  stop(): void {
    this.#isOver = true
  }

  /** Lets everything happen that is due until `elapsedMs`, unless it is stopped. */
  async runUntil(elapsedMs: number, maxSteps: number): Promise<void> {
    const endMs = this.#startMs + elapsedMs
    await turn()
    for (let next = this.#heap[0]; next && next.dueMs <= endMs && !this.#isOver; next = this.#heap[0]) {
      this.#pop()
      if (next.isOff) continue
      this.#nowMs = next.dueMs
      if (!this.#mayHappen(next)) continue
      if (++this.steps > maxSteps) throw new Error(`no rest after ${maxSteps} events`)
      if (next.label !== '') this.say(next.owner ? `${next.owner.name} ${next.label}` : next.label)
      this.#acting = next.owner
      next.run()
      await turn()
    }
    if (!this.#isOver) this.#nowMs = endMs
  }

  #mayHappen(entry: Entry): boolean {
    const { owner } = entry
    if (!owner) return true
    if (owner.state === 'paused') {
      const held = this.#held.get(owner) ?? []
      held.push(entry)
      this.#held.set(owner, held)
      return false
    }
    return owner.state === 'running' && !this.interfere(owner, entry.label)
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (!above || isBefore(above, entry)) break
      heap[at] = above
      heap[parent] = entry
      at = parent
    }
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const left = heap[child]
      if (!left) break
      const right = heap[child + 1]
      let smaller = left
      if (right && isBefore(right, left)) {
        smaller = right
        child++
      }
      if (isBefore(last, smaller)) break
      heap[at] = smaller
      at = child
    }
    heap[at] = last
  }
}

const isBefore = (a: Entry, b: Entry): boolean => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order)
