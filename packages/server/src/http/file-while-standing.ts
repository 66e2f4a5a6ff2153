import { Readable } from 'node:stream'
import { CountersignError } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { EventHub } from '../dispatch/index.ts'
import { watchStanding } from '../identity/standing.ts'

/**
 * Returns a file that is read as fast as the client takes it. A long download breaks off as soon as the caller is disabled or has other
 * rights: the connection ends in the middle, so that nobody takes the part for the whole.
 * @param pieces The text of the file.
 */
export const fileWhileStanding = (
  deps: { hub: EventHub; clock: Clock },
  request: FastifyRequest,
  pieces: AsyncIterable<string>,
): Readable => Readable.from(whileStanding(deps, request, pieces))

async function* whileStanding(
  deps: { hub: EventHub; clock: Clock },
  request: FastifyRequest,
  pieces: AsyncIterable<string>,
): AsyncGenerator<string> {
  using standing = await watchStanding(deps, request)
  for await (const piece of pieces) {
    if (!standing.isSame) throw new CountersignError('unauthenticated', 'your credential or your rights changed during the download')
    yield piece
  }
}
