import type { DatabaseClient } from '../../packages/server/src/store/index.ts'
import type { SimulatedPostgres } from './postgres.ts'
import type { Owner } from './timeline.ts'

export interface Query {
  name?: string
  text: string
  values?: unknown[]
}

interface Answer {
  rows: Record<string, unknown>[]
  rowCount: number
}

type Listeners = { end: Set<() => void>; notification: Set<(message: { payload: string }) => void>; error: Set<() => void> }

const NEVER = new Promise<never>(() => undefined)

/**
 * A connection of one process to the simulated database: queries arrive in order, a while later, and so do the answers. It may break at any
 * time; the server and the process notice each on their own.
 */
export class Connection {
  readonly owner: Owner
  readonly backend: number
  readonly name: string
  readonly #server: SimulatedPostgres
  readonly #listeners: Listeners = { end: new Set(), notification: new Set(), error: new Set() }
  readonly #waiting = new Set<(error: Error) => void>()
  #isListening = false
  #isOpen = true
  #lastArrivalMs = 0
  #lastAnswerMs = 0

  constructor(server: SimulatedPostgres, owner: Owner, name: string, backend: number) {
    this.owner = owner
    this.backend = backend
    this.name = name
    this.#server = server
  }

  /** As the process sees it. */
  asClient(): DatabaseClient {
    const client = {
      connect: () => this.#connect(),
      query: (query: Query) => this.#query(query),
      end: async () => this.#close(),
      on: (event: keyof Listeners, callback: () => void) => void this.#listeners[event].add(callback),
      once: (event: keyof Listeners, callback: () => void) => void this.#listeners[event].add(callback),
    }
    return client as unknown as DatabaseClient
  }

  listen(): void {
    this.#isListening = true
  }

  /** Something was told to everybody who listens. */
  hear(payload: string): void {
    if (!this.#isListening || !this.#isOpen) return
    this.#answer('', () => {
      for (const callback of this.#listeners.notification) callback({ payload })
    })
  }

  /** The server or the network ends the connection: the process notices a little later. */
  break(): void {
    this.#close()
    this.#server.parts.timeline.after(
      0.1 + this.#server.parts.random.next() * 3,
      `hears that its connection ${this.name} is gone`,
      () => {
        for (const fail of this.#waiting) fail(new Error('Connection terminated unexpectedly'))
        for (const callback of this.#listeners.end) callback()
      },
      this.owner,
    )
  }

  #close(): void {
    this.#isOpen = false
    this.#server.forget(this.backend)
  }

  #connect(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // One that breaks while it is made is refused, as any question on it.
    this.#waiting.add(reject)
    this.#answer('', () => {
      this.#waiting.delete(reject)
      if (this.#server.unreachable.has(this.owner)) reject(new Error('no route to host'))
      else resolve()
    })
    return promise
  }

  #query(query: Query): Promise<Answer> {
    if (this.owner.state === 'dead') return NEVER
    const { timeline, random } = this.#server.parts
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.add(reject)
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, timeline.elapsedMs + 0.1 + random.next())
    // Sent is sent: it arrives even if the process dies meanwhile.
    timeline.after(this.#lastArrivalMs - timeline.elapsedMs, '', () => {
      if (!this.#isOpen) return
      const rows = this.#server.run(query, this.backend)
      this.#answer('', () => {
        this.#waiting.delete(reject)
        resolve({ rows, rowCount: rows.length })
      })
    })
    return promise
  }

  #answer(label: string, tell: () => void): void {
    const { timeline, random } = this.#server.parts
    this.#lastAnswerMs = Math.max(this.#lastAnswerMs, timeline.elapsedMs + 0.1 + random.next())
    timeline.after(this.#lastAnswerMs - timeline.elapsedMs, label, () => this.#isOpen && tell(), this.owner)
  }
}
