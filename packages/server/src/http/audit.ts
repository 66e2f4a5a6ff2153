import {
  AcceptRecordBody,
  Action,
  AuditExportQuery,
  AuditKeyView,
  AuditList,
  AuditListQuery,
  AuditSealView,
  RedactBody,
} from '@countersign/core'
import { exportCsv, exportLines, listAudit, namesIn, seenOf, titlesOf, viewRows } from '../audit/index.ts'
import { accepterOf, isoTime } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { fileWhileStanding } from './file-while-standing.ts'
import { decodeCursor, pageOf } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('audit')

const PRODUCES = ['application/x-ndjson', 'text/csv']

const viewSeal = ({ sealer, anchor }: HttpDeps): AuditSealView => {
  const { problem, head, memory } = sealer.status
  return {
    problem: problem
      ? { kind: problem.kind, why: problem.why, since: isoTime(problem.sinceMs), found: problem.found, remembered: problem.remembered }
      : null,
    head: head ? { number: head.number, hash: head.hash, at: isoTime(head.at) } : null,
    memory: { place: memory.place, since: memory.since === undefined ? null : isoTime(memory.since), from: memory.from ?? null },
    anchor: anchor ? { head: anchor.status.head ?? null, failure: anchor.status.failure ?? null } : null,
  }
}

/** Registers the routes that read, export and verify the record of decisions and executions. */
export function auditRoutes(app: App, deps: HttpDeps): void {
  sealRoutes(app, deps)
  contentRoutes(app, deps)
}

function sealRoutes(app: App, deps: HttpDeps): void {
  const { store, auditKey, sealer } = deps
  app.get(
    '/api/audit',
    route('see-all', {
      operationId: 'listRecord',
      summary: 'List the rows of the record',
      errors: ['forbidden'],
      querystring: AuditListQuery,
      response: { 200: AuditList },
    }),
    async (request) => {
      const { query } = request
      const [before] = decodeCursor('audit', query.cursor, ['number']) ?? []
      const found = await listAudit(store, query, before === undefined ? undefined : Number(before), query.limit + 1)
      const { items: rows, nextCursor } = pageOf('audit', found, query.limit, ({ id }) => [id])
      return store.read(function* () {
        const items = yield* viewRows(rows)
        return { items, nextCursor, names: yield* namesIn(items), titles: yield* titlesOf(items), seen: yield* seenOf(rows) }
      })
    },
  )
  app.get(
    '/api/audit/key',
    route('anyone', {
      operationId: 'getRecordKey',
      summary: 'Read the public key that the record is signed with',
      response: { 200: AuditKeyView },
    }),
    async () => {
      return { algorithm: 'Ed25519' as const, publicKey: auditKey.publicKey }
    },
  )
  app.get(
    '/api/audit/seal',
    route('anyone', {
      operationId: 'getRecordSeal',
      summary: 'Report whether the record matches its signature',
      response: { 200: AuditSealView },
    }),
    async () => viewSeal(deps),
  )
  app.post(
    '/api/audit/accept',
    route('admin', {
      operationId: 'acceptRecord',
      summary: 'Accept the record as it is found',
      body: AcceptRecordBody,
      response: { 200: AuditSealView },
    }),
    async (request) => {
      await sealer.accept(accepterOf(callerOf(request)), request.body.reason)
      return viewSeal(deps)
    },
  )
}

/** Pause until rows can be sealed before which another row may still be written. */
const SEAL_AGAIN_MS = 100
const MOST_SEALS = 50

/** Seals for an export that needs newer rows. False after too many tries, and while nothing is sealed because the record has a problem. */
function sealFewTimes(sealer: HttpDeps['sealer'], clock: HttpDeps['clock']): () => Promise<boolean> {
  let tries = 0
  return async () => {
    if (++tries > MOST_SEALS) return false
    if (await sealer.sealNow()) return true
    if (sealer.status.problem) return false
    await new Promise<void>((resolve) => clock.after(SEAL_AGAIN_MS, resolve))
    return true
  }
}

function contentRoutes(app: App, { store, hub, clock, auditKey, sealer, gate }: HttpDeps): void {
  app.get(
    '/api/audit/export',
    route('see-all', {
      operationId: 'exportRecord',
      summary: 'Export the record as a file',
      errors: ['forbidden'],
      sends: ['Content-Disposition'],
      querystring: AuditExportQuery,
      produces: PRODUCES,
    }),
    async (request, reply) => {
      const { format, since, until } = request.query
      const time = {
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
      }
      const sealMore = sealFewTimes(sealer, clock)
      const options = { store, key: auditKey, nowMs: clock.nowMs(), remembered: sealer.status.head, sealMore, ...time }
      const name = `countersign-audit-${new Date(options.nowMs).toISOString().replaceAll(/[:.]/g, '-')}.${format}`
      reply.header('content-type', format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8')
      reply.header('content-disposition', `attachment; filename="${name}"`)
      // Rows are read as fast as the client takes them, a few hundred at a time.
      return reply.send(fileWhileStanding({ hub, clock }, request, format === 'csv' ? exportCsv(options) : exportLines(options)))
    },
  )
  app.post(
    '/api/actions/:id/redact',
    route('by-object', {
      operationId: 'redactAction',
      summary: 'Blank what an action was about',
      errors: ['gone', 'illegal_transition', 'busy'],
      params: IdParams,
      body: RedactBody,
      response: { 200: Action },
    }),
    (request) => gate.redact(request.params.id, request.body, callerOf(request)),
  )
}
