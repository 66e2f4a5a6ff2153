import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type Clock, systemClock } from '../clock.ts'

/** Shorter than the idle timeout of any proxy. */
const BEAT_MS = 15_000

export interface Beat {
  clock?: Clock
  /** The wait before the next space. */
  beatMs?: number
}

/**
 * Wraps an answer that may take long, a JSON object: returns the answer, or a stream that ends with its JSON. Until then it sends its brace
 * and a space now and then, which JSON allows there, so that proxies and clients see a live connection. When the answer fails after the
 * first space, the connection is aborted, so that no client takes half an answer for a whole one; where a proxy ends it in order, the brace
 * says that something is missing.
 */
export async function whenThere<T extends object>(
  reply: FastifyReply,
  answer: Promise<T>,
  { clock = systemClock, beatMs = BEAT_MS }: Beat = {},
): Promise<T> {
  const isSoon = () => isThereWithin(answer, clock, beatMs)
  if (await isSoon()) return answer
  reply.type('application/json; charset=utf-8')
  // Fastify sends a stream as it is; in the route's type it stands for the answer.
  return Readable.from(spacesThen(answer, isSoon)) as never
}

async function* spacesThen(answer: Promise<object>, isSoon: () => Promise<boolean>): AsyncGenerator<string> {
  yield '{ '
  while (!(await isSoon())) yield ' '
  yield JSON.stringify(await answer).slice(1)
}

/** @throws The error of the answer. */
async function isThereWithin(answer: Promise<unknown>, clock: Clock, beatMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const cancel = clock.after(beatMs, () => resolve(false))
  try {
    return await Promise.race([answer.then(() => true), late])
  } finally {
    cancel()
  }
}
