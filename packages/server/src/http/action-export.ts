import { type Action, ActionExportQuery } from '@countersign/core'
import { decidingReason, decidingVotes } from '@countersign/core/text'
import { searchActions, viewActions } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { type ActionRow, actions } from '../store/index.ts'
import { readFilter } from './action-filter.ts'
import type { App, HttpDeps } from './app.ts'
import { fileWhileStanding } from './file-while-standing.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('actions')

const ROWS_PER_READ = 200

/** The columns of the table. Times are ISO 8601 UTC, lengths of time milliseconds; a cell without a value is empty. */
const COLUMNS: Readonly<Record<string, (action: Action) => unknown>> = {
  id: ({ id }) => id,
  title: ({ description }) => description,
  state: ({ state }) => state,
  tool: ({ tool }) => tool,
  risk: ({ risk }) => risk.level,
  agent: ({ agent }) => agent,
  askedBy: ({ requesters }) => requesters.map(({ name }) => name).join(', '),
  decidedBy: (action) =>
    decidingVotes(action)
      .map(({ by }) => by.name)
      .join(', '),
  reason: (action) => decidingReason(action) ?? '',
  verdict: ({ policy }) => policy.verdict,
  rule: ({ policy }) => policy.rule,
  policyVersion: ({ policy }) => policy.version,
  askedAt: ({ createdAt }) => createdAt,
  decidedAt: ({ decidedAt }) => decidedAt,
  startedAt: ({ startedAt }) => startedAt,
  settledAt: ({ settledAt }) => settledAt,
  waitedMs: ({ createdAt, decidedAt, settledAt }) => between(createdAt, decidedAt ?? settledAt),
  ranMs: ({ startedAt, settledAt }) => between(startedAt, settledAt),
  attempts: ({ attempt }) => attempt,
  destination: ({ destination }) => destination,
  error: ({ error }) => error?.message,
  resultUrl: ({ resultUrl }) => resultUrl,
  revision: ({ revision }) => revision,
  digest: ({ digest }) => digest,
  arguments: ({ arguments: given }) => JSON.stringify(given),
}

const between = (from: string | null, to: string | null): number | undefined =>
  from === null || to === null ? undefined : Math.max(0, Date.parse(to) - Date.parse(from))

const cellsOf = (action: Action): string[] => Object.values(COLUMNS).map((read) => String(read(action) ?? ''))
const jsonlOf = (action: Action): string => `${JSON.stringify(action)}\n`

/** Yields the actions of a filter in its order, a few hundred at a time. */
async function* exportActions(
  { store, clock }: Pick<HttpDeps, 'store' | 'clock'>,
  filter: Omit<actions.ActionFilter, 'limit'>,
  format: ActionExportQuery['format'],
): AsyncGenerator<string> {
  const { csvLine } = await import('../csv-line.ts')
  const lineOf = format === 'csv' ? (action: Action) => csvLine(cellsOf(action)) : jsonlOf
  if (format === 'csv') yield csvLine(Object.keys(COLUMNS))
  for (let last: ActionRow | undefined; ; ) {
    const rows = await searchActions(store, { ...filter, ...(last && actions.placeAfter(filter, last)), limit: ROWS_PER_READ })
    const page = await store.read(() => viewActions(rows, clock.nowMs()))
    if (page.length > 0) yield page.map(lineOf).join('')
    if (page.length < ROWS_PER_READ) return
    last = rows.at(-1)
  }
}

/** Registers the export of what a list of actions shows. */
export function actionExportRoutes(app: App, { store, clock, hub }: HttpDeps): void {
  app.get(
    '/api/actions/export',
    route('anyone', {
      operationId: 'exportActions',
      summary: 'Export the actions you may see as a file',
      sends: ['Content-Disposition'],
      querystring: ActionExportQuery,
      produces: ['application/x-ndjson', 'text/csv'],
    }),
    async (request, reply) => {
      const { principal } = callerOf(request)
      const { format, ...query } = request.query
      const name = `countersign-actions-${new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-')}.${format}`
      reply.header('content-type', format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8')
      reply.header('content-disposition', `attachment; filename="${name}"`)
      return reply.send(fileWhileStanding({ hub, clock }, request, exportActions({ store, clock }, readFilter(query, principal), format)))
    },
  )
}
