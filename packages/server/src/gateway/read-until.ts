import type { FastifyReply } from 'fastify'

export interface ReadUntil<T> {
  /** Once it resolves, calls `changed` whenever what is read may be another; answers what ends that. */
  listen(changed: () => void): Promise<() => void>
  read(): Promise<T>
  isEnough(value: T): boolean
  giveUp: AbortSignal
}

/**
 * Reads again after every change until what is read is enough. Listening begins before the first read: a change that falls between the
 * two is not missed.
 * @returns What was read last: enough, unless `giveUp` aborted.
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

/** Aborts when nobody is left who could hear the answer. */
export function whenHungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
