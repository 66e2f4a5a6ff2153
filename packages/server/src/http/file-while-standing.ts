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
export function fileWhileStanding(deps: { hub: EventHub; clock: Clock }, request: FastifyRequest, pieces: AsyncIterable<string>): Readable {
  const file: Readable = Readable.from(whileStanding())
  return file

  async function* whileStanding(): AsyncGenerator<string> {
    const standing = await watchStanding(deps, request)
    // The last piece is read long before a slow client takes it.
    file.once('close', () => standing[Symbol.dispose]())
    standing.onChanged(() => {
      file.destroy(new CountersignError('unauthenticated', 'your credential or your rights changed during the download'))
    })
    yield* pieces
  }
}
