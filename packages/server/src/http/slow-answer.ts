import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Shorter than the idle timeout of any proxy. */
const BEAT_MS = 15_000

/**
 * Wraps an answer that may take long: returns the answer, or a stream that ends with its JSON. Until then it sends a space now and then,
 * which JSON allows before a value, so that proxies and clients see a live connection. When the answer fails after the first space, the
 * connection is aborted, so that no client takes half an answer for a whole one.
 */
export async function whenThere<T>(reply: FastifyReply, answer: Promise<T>, beatMs = BEAT_MS): Promise<T> {
  if (await isThereWithin(answer, beatMs)) return answer
  reply.type('application/json; charset=utf-8')
  // Fastify sends a stream as it is; in the route's type it stands for the answer.
  return Readable.from(spacesThen(answer, beatMs)) as never
}

async function* spacesThen(answer: Promise<unknown>, beatMs: number): AsyncGenerator<string> {
  do yield ' '
  while (!(await isThereWithin(answer, beatMs)))
  yield JSON.stringify(await answer)
}

/** @throws The error of the answer. */
async function isThereWithin(answer: Promise<unknown>, beatMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, beatMs, false)
  try {
    return await Promise.race([answer.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
