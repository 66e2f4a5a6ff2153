import { CountersignError, type NewEvent } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findVisibleSession } from '../agent/index.ts'
import { type Caller, seesAll } from '../gate/index.ts'
import { actions, events, type StoredEvent } from '../store/index.ts'
import type { App, HttpParts } from './app.ts'
import { followSession } from './follow.ts'
import { callerOf } from './identity/authenticate.ts'

const Params = z.object({ id: z.string().max(100) })
const AfterQuery = z.object({ after: z.coerce.number().int().optional() })

/** Where a reader wants to go on. An id that is no number was never ours: it is answered with a reset, like one that is too high. */
function afterOf(request: FastifyRequest, query: { after?: number | undefined }): number | undefined {
  const header = request.headers['last-event-id']
  if (typeof header === 'string' && header !== '') return /^\d{1,15}$/.test(header) ? Number(header) : Number.MAX_SAFE_INTEGER
  return query.after
}

const streamSchema = { tags: ['events'], produces: ['text/event-stream'] }

export function eventRoutes(app: App, { store, hub, streams }: HttpParts): void {
  app.get('/api/sessions/:id/events', { schema: { ...streamSchema, params: Params, querystring: AfterQuery } }, async (request, reply) => {
    const caller = callerOf(request)
    const session = await store.read(() => findVisibleSession(request.params.id, caller))
    const stream = streams.open(request, reply)
    await followSession({ store, hub, stream, sessionId: session.id, after: afterOf(request, request.query) ?? 0 })
  })

  app.get('/api/events', { schema: { ...streamSchema, querystring: AfterQuery } }, async (request, reply) => {
    const caller = callerOf(request)
    if (caller.principal.kind !== 'person') throw new CountersignError('forbidden', 'the inbox is for persons')
    const isVisible = await visibility(caller)
    const stream = streams.open(request, reply)
    let lastId: number | undefined
    let early: StoredEvent[] | undefined = []
    const sendLive = (stored: StoredEvent) => {
      const { id, event } = stored
      if (!events.isForInbox(stored) || id <= (lastId ?? 0) || stream.isClosed) return
      lastId = id
      if (isVisible(event)) stream.send({ type: event.type, id, data: event.data })
    }
    stream.onClose(hub.onAny((stored) => (early ? early.push(stored) : sendLive(stored))))
    const newest = await store.read(events.lastPlace)
    const after = afterOf(request, request.query)
    if (after !== undefined && (after > newest || after < 0)) {
      lastId = newest
      stream.send({
        type: 'reset',
        id: newest,
        data: { reason: 'the log does not hold this id', session: null, messages: [], actions: [] },
      })
    } else {
      // Without a place to go on from, the stream begins now: what waits already is in the list of actions.
      lastId = after ?? newest
      for (;;) {
        const rows = await store.read(() => events.inboxRowsAfter(lastId ?? 0, 500))
        for (const stored of rows.flatMap(events.readEvents)) sendLive(stored)
        if (rows.length < 500 || stream.isClosed) break
      }
    }
    const waited = early
    early = undefined
    for (const stored of waited) sendLive(stored)
  })

  /** What of the inbox's events this person may see: all, or those of the actions that they asked for. */
  async function visibility({ principal }: Caller): Promise<(event: NewEvent) => boolean> {
    if (seesAll(principal)) return () => true
    const own = new Set<string>()
    const rows = await store.read(() =>
      actions.listActions({
        states: ['proposed', 'approved', 'executing'],
        requestedBy: principal.id,
        limit: 10_000,
      }),
    )
    for (const row of rows) own.add(row.id)
    return (event) => {
      if (event.type === 'action_proposed' && event.data.proposal.requestedBy.id === principal.id) own.add(event.data.proposal.id)
      return event.type === 'action_proposed'
        ? own.has(event.data.proposal.id)
        : event.type === 'action_update' && own.has(event.data.proposalId)
    }
  }
}
