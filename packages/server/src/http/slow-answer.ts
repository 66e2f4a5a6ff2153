import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Shorter than any proxy's patience with a silent connection. */
const BEAT_MS = 15_000

/**
 * What a route answers when that may be long in coming: the answer, or a stream that ends with its JSON. Until then a space goes out now
 * and then, which JSON allows ahead of a value: proxies and clients see that the connection lives. An answer that fails after the first
 * space breaks the connection off, so that nobody takes half an answer for a whole one.
 */
export async function whenThere<T>(reply: FastifyReply, answer: Promise<T>, beatMs = BEAT_MS): Promise<T> {
  if (await isThereWithin(answer, beatMs)) return answer
  reply.type('application/json; charset=utf-8')
  // Fastify sends a stream as it is; for the route it stands for the answer.
  return Readable.from(spacesThen(answer, beatMs)) as never
}

async function* spacesThen(answer: Promise<unknown>, beatMs: number): AsyncGenerator<string> {
  do yield ' '
  while (!(await isThereWithin(answer, beatMs)))
  yield JSON.stringify(await answer)
}

/** @throws what the answer failed with. */
async function isThereWithin(answer: Promise<unknown>, beatMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, beatMs, false)
  try {
    return await Promise.race([answer.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
