import type { Client } from '@modelcontextprotocol/client'

/**
 * The requests that wait for their answer. Closing a client breaks off all of them, also a write that the server is carrying out. For that
 * reason a client that was replaced is closed after the last of its answers.
 */
export class OpenRequests {
  readonly #counts = new Map<Client, number>()
  readonly #replaced = new Set<Client>()

  async run<T>(client: Client, question: (client: Client) => Promise<T>): Promise<T> {
    this.#counts.set(client, this.#countOf(client) + 1)
    try {
      return await question(client)
    } finally {
      const count = this.#countOf(client) - 1
      if (count > 0) this.#counts.set(client, count)
      else {
        this.#counts.delete(client)
        if (this.#replaced.delete(client)) void client.close().catch(() => {})
      }
    }
  }

  has(client: Client): boolean {
    return this.#counts.has(client)
  }

  /** Closes a client that gets no new requests, now or after its last answer. */
  closeAfterLast(client: Client): void {
    if (this.has(client)) this.#replaced.add(client)
    else void client.close().catch(() => {})
  }

  /** Closes every client that waits for its last answer, at once. */
  async closeReplaced(): Promise<void> {
    const clients = [...this.#replaced]
    this.#replaced.clear()
    await Promise.all(clients.map((client) => client.close().catch(() => {})))
  }

  #countOf(client: Client): number {
    return this.#counts.get(client) ?? 0
  }
}
