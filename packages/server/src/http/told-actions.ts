/** A reader that follows for a year would otherwise cost the server 50 bytes for each action that ever ended. */
const MOST_ENDED = 200

/** The actions that the reader of a stream knows: all that have not ended, and of the others those that it was told of last. */
export class ToldActions {
  readonly #open: Set<string>
  /** The one that was told of the longest ago first. */
  readonly #ended = new Set<string>()

  constructor(open: Iterable<string>) {
    this.#open = new Set(open)
  }

  has(id: string): boolean {
    return this.#open.has(id) || this.#ended.has(id)
  }

  add(id: string, isEnded: boolean): void {
    this.delete(id)
    if (!isEnded) return void this.#open.add(id)
    this.#ended.add(id)
    const [first] = this.#ended
    if (first !== undefined && this.#ended.size > MOST_ENDED) this.#ended.delete(first)
  }

  addOpen(ids: Iterable<string>): void {
    for (const id of ids) this.#open.add(id)
  }

  delete(id: string): void {
    this.#open.delete(id)
    this.#ended.delete(id)
  }
}
