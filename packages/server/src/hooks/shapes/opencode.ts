import { z } from 'zod'
import { proxiedAnswer, proxiedEvent, ReportStatus } from './proxied.ts'
import { type HookEvent, type HookShape, inputOf, Json, readShape, Text } from './shape.ts'

const Id = z.string().min(1).max(200)
const About = { session: Id, cwd: Text.default(''), callId: Id, tool: Id, input: Json }

const Body = z.discriminatedUnion('event', [
  z.object({ event: z.literal('ask'), ...About }),
  z.object({ event: z.literal('answered'), ...About, allowed: z.boolean() }),
  z.object({ event: z.literal('report'), ...About, status: ReportStatus, output: Json.optional() }),
  z.object({ event: z.literal('ended'), session: Id }),
])

/** Opencode behind `countersign opencode`, which sends these messages. A reply to opencode has no place for another input. */
export const opencodeShape: HookShape = {
  read(body): HookEvent {
    const read = readShape(Body, body, 'opencode')
    const { event, session } = read
    if (event === 'ended') return { kind: 'ended', host: 'opencode', event, session }
    const call = { host: 'opencode' as const, tool: read.tool, input: inputOf(read.input), folder: read.cwd }
    return proxiedEvent(read, { session, callId: read.callId, call })
  },
  answer: proxiedAnswer,
}
