import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { EventHub } from '../dispatch/index.ts'
import { watchStanding } from '../identity/standing.ts'
import type { ResumableStream, Streams } from './sse.ts'

/**
 * Opens an event stream that ends as soon as the caller is disabled or has other rights. A caller who still has access reconnects with the
 * last id, and the rights are checked again.
 */
export async function streamWhileStanding(
  { hub, clock, streams }: { hub: EventHub; clock: Clock; streams: Streams },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ResumableStream> {
  const standing = await watchStanding({ hub, clock }, request)
  const stream = streams.open(request, reply)
  stream.onClose(() => standing[Symbol.dispose]())
  standing.onChanged(() => stream.end())
  return stream
}
