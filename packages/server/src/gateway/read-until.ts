import type { FastifyReply } from 'fastify'

export interface ReadUntil<T> {
  /** Once it resolves, calls `changed` whenever the value may have changed; returns the function that ends it. */
  listen(changed: () => void): Promise<() => void>
  read(): Promise<T>
  isEnough(value: T): boolean
  giveUp: AbortSignal
}

/**
 * Reads again after every change until the value is sufficient. It subscribes before the first read, so that a change between the two is
 * not missed.
 * @returns The value read last: sufficient, unless `giveUp` aborted.
 */
export async function readUntil<T>({ listen, read, isEnough, giveUp }: ReadUntil<T>): Promise<T> {
  let changed = Promise.withResolvers<void>()
  const wake = () => changed.resolve()
  const stopListening = await listen(wake)
  giveUp.addEventListener('abort', wake, { once: true })
  try {
    for (;;) {
      const value = await read()
      if (isEnough(value) || giveUp.aborted) return value
      await changed.promise
      changed = Promise.withResolvers()
    }
  } finally {
    stopListening()
    giveUp.removeEventListener('abort', wake)
  }
}

/** Aborts when the answer can no longer reach the client. */
export function whenHungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
