import type { Client } from '@modelcontextprotocol/client'
import { type Listed, listTools } from './list-tools.ts'
import { Pauses } from './pauses.ts'

/** How long after a notice the tools are listed: some servers send a notice for each of many tools. */
const SOON_MS = 300

export interface ToolListOptions {
  /** The interval at which the tools are listed without a notice; undefined for a server that is known to send its notices. */
  everyMs: number | undefined
  onListed(listed: Listed): void
  onFailed(error: unknown): void
}

/** Lists the tools of one client: first when asked to, then after each notice of a change and at an interval. One list at a time. */
export class ToolList {
  readonly #client: Client
  readonly #options: ToolListOptions
  readonly #ended = new AbortController()
  readonly #pauses = new Pauses()
  #timer: NodeJS.Timeout | undefined
  #dueMs = 0
  /** True until the first list, too: what changes before it is in it. */
  #isListing = true
  /** True where a notice came during a list: the list may not have the change. */
  #isOld = false

  constructor(client: Client, options: ToolListOptions) {
    this.#client = client
    this.#options = options
  }

  /** Aborts when the client is replaced or closed. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Returns the first list. @throws the error of the request */
  async first(): Promise<Listed> {
    const listed = await this.#list()
    this.#planNext(this.#options.everyMs)
    return listed
  }

  /** Takes a notice that the tools may be others now. */
  changed(): void {
    if (this.#isListing) this.#isOld = true
    else this.#plan(SOON_MS)
  }

  end(): void {
    this.#ended.abort()
    clearTimeout(this.#timer)
  }

  async #list(): Promise<Listed> {
    this.#isListing = true
    this.#isOld = false
    try {
      return await listTools(this.#client, this.#ended.signal)
    } finally {
      this.#isListing = false
    }
  }

  async #listAgain(): Promise<void> {
    this.#timer = undefined
    try {
      const listed = await this.#list()
      if (this.#ended.signal.aborted) return
      this.#pauses.restart()
      this.#options.onListed(listed)
      this.#planNext(this.#options.everyMs)
    } catch (error) {
      if (this.#ended.signal.aborted) return
      this.#options.onFailed(error)
      this.#planNext(this.#pauses.next())
    }
  }

  #planNext(ms: number | undefined): void {
    if (this.#isOld) this.#plan(SOON_MS)
    else if (ms !== undefined) this.#plan(ms)
  }

  /** Lists after this time, unless a list comes sooner. A notice after a notice does not put it off. */
  #plan(ms: number): void {
    if (this.#ended.signal.aborted) return
    const dueMs = performance.now() + ms
    if (this.#timer && this.#dueMs <= dueMs) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(() => void this.#listAgain(), ms)
    this.#timer.unref()
  }
}
