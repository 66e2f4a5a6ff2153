import type { Principal } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findVisibleSession } from '../agent/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { events } from '../store/index.ts'
import { streamLastReply } from './ai-sdk/routes.ts'
import type { App, HttpDeps } from './app.ts'
import { InboxEvent, SessionEvent } from './docs/index.ts'
import { followLog } from './follow.ts'
import { openInboxLog } from './inbox-log.ts'
import { noteEvent, type SentEvent } from './note-answers.ts'
import { IdParams, taggedRoute } from './route.ts'
import { endsSession, sessionLog } from './session-log.ts'
import { streamWhileStanding } from './stream-while-standing.ts'

const route = taggedRoute('events')

const AfterQuery = z.object({
  after: z.coerce.number().int().optional().describe('The `id` of the last event that arrived: the stream continues after it.'),
})

const SessionStreamQuery = AfterQuery.extend({
  format: z
    .enum(['ai-sdk'])
    .optional()
    .describe('`ai-sdk`: the last answer from its beginning, as a message stream for user interfaces of the AI SDK.'),
}).refine(({ format, after }) => format === undefined || after === undefined, { path: ['after'], error: 'cannot be combined with format' })

/** Parses the place where a reader resumes. A value that this server never sent is answered with a reset, like one that is too high. */
function afterOf(request: FastifyRequest, query: { after?: number | undefined }): number | undefined {
  const header = request.headers['last-event-id']
  if (typeof header === 'string' && header !== '') return /^\d{1,15}$/.test(header) ? Number(header) : Number.MAX_SAFE_INTEGER
  return query.after !== undefined && query.after < 0 ? Number.MAX_SAFE_INTEGER : query.after
}

const openStream = ({ hub, clock, streams }: HttpDeps, request: FastifyRequest, reply: FastifyReply) =>
  streamWhileStanding({ hub, clock, streams }, request, reply)

const noteFor = (announcements: HttpDeps['announcements'], principal: Principal) => (event: SentEvent) =>
  noteEvent(announcements, principal, event)

export function eventRoutes(app: App, deps: HttpDeps): void {
  streamSessionRoute(app, deps)
  streamInboxRoute(app, deps)
}

function streamSessionRoute(app: App, deps: HttpDeps): void {
  const { store, hub, clock, announcements, logs } = deps
  app.get(
    '/api/sessions/:id/events',
    route('by-object', {
      operationId: 'streamSession',
      summary: 'Stream the events of a session',
      streams: SessionEvent,
      takes: ['Last-Event-ID'],
      produces: ['text/event-stream'],
      params: IdParams,
      querystring: SessionStreamQuery,
      response: { 204: z.null().describe('There is no answer to stream in this format.') },
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const session = await store.read(() => findVisibleSession(request.params.id, caller))
      if (request.query.format === 'ai-sdk') return streamLastReply(deps, request, reply, { session, caller })
      const after = afterOf(request, request.query) ?? 0
      const log = sessionLog({ store: logs, hub, clock, sessionId: session.id, principal: caller.principal })
      followLog({
        log,
        stream: await openStream(deps, request, reply),
        logger: request.log,
        after,
        onSent: noteFor(announcements, caller.principal),
        isLast: endsSession,
      })
    },
  )
}

function streamInboxRoute(app: App, deps: HttpDeps): void {
  const { store, hub, clock, announcements, logs } = deps
  app.get(
    '/api/events',
    route('anyone', {
      operationId: 'streamInbox',
      summary: 'Stream the events of all actions you may see',
      streams: InboxEvent,
      takes: ['Last-Event-ID'],
      produces: ['text/event-stream'],
      querystring: AfterQuery,
    }),
    async (request, reply) => {
      const { principal } = callerOf(request)
      const log = await openInboxLog({ store: logs, hub, clock, principal })
      // Without a resume place, the stream begins now: actions that already wait are in the list of actions.
      const named = afterOf(request, request.query)
      const after = named ?? (await store.read(events.lastPlace))
      const stream = await openStream(deps, request, reply)
      if (named === undefined) stream.beginAt(after)
      followLog({
        log,
        stream,
        logger: request.log,
        after,
        onSent: noteFor(announcements, principal),
      })
    },
  )
}
