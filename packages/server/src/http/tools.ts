import { AcceptToolBody, CountersignError, type Principal, type Tool, ToolDetails, ToolSourceView, ToolView } from '@countersign/core'
import { z } from 'zod'
import { acceptTool } from '../accept-tool.ts'
import { isoTime, readerOf } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { rulesAbout, usualVerdict } from '../policy/index.ts'
import { lastCalls } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { MemoryPageQuery, pageInMemory } from './page.ts'
import { mayReadPolicy } from './policy.ts'
import { viewTool } from './registered-tools.ts'
import { taggedRoute } from './route.ts'

const Params = z.object({ name: z.string().max(200) })

/** Persons see all tools; an agent or a service sees those of the configuration and its own. */
const maySee = (principal: Principal, { registered }: Tool): boolean =>
  registered === undefined || principal.kind === 'person' || registered.ownerId === principal.id

const route = taggedRoute('tools')

/** Registers the routes of the tools: the list, one tool with its rules and changes, the acceptance of a change, and the sources. */
export function toolRoutes(app: App, deps: HttpDeps): void {
  listToolsRoute(app, deps)
  getToolRoute(app, deps)
  acceptToolRoute(app, deps)
  listToolSourcesRoute(app, deps)
}

const ListQuery = MemoryPageQuery.extend({
  use: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      '`true`: each with what the policy says about its calls, and its last call. Only people who may read the policy are told what it says.',
    ),
})

function listToolsRoute(app: App, { tools, registered, policies, store }: HttpDeps): void {
  app.get(
    '/api/tools',
    route('anyone', {
      operationId: 'listTools',
      summary: 'List the tools and their input schemas',
      querystring: ListQuery,
      response: { 200: z.object({ items: z.array(ToolView), nextCursor: z.string().nullable() }) },
    }),
    async (request) => {
      const { principal } = callerOf(request)
      const all = [...tools.all(), ...(await registered.list())].filter((tool) => maySee(principal, tool))
      const { use, ...page } = request.query
      const { items, nextCursor } = pageInMemory('tools', all, page)
      const views = items.map((tool): ToolView => viewTool(tool, tools.groups))
      if (use !== 'true') return { items: views, nextCursor }
      const { calls, policy } = await store.read(function* () {
        const rows = yield* lastCalls(readerOf(principal))
        return {
          calls: new Map(rows.map((row) => [row.tool, row])),
          policy: mayReadPolicy(principal) ? yield* policies.inForce() : undefined,
        }
      })
      for (const [at, view] of views.entries()) {
        const [tool, call] = [items[at], calls.get(view.name)]
        if (policy && tool) view.usual = usualVerdict(policy.document, tool)
        if (call) view.lastCall = { id: call.id, state: call.state, createdAt: isoTime(call.created_at) }
      }
      return { items: views, nextCursor }
    },
  )
}

function getToolRoute(app: App, { tools, registered, policies, store }: HttpDeps): void {
  app.get(
    '/api/tools/:name',
    route('anyone', {
      operationId: 'getTool',
      summary: 'Read a tool, the rules about it and what changed in it',
      params: Params,
      response: { 200: ToolDetails },
    }),
    async (request): Promise<ToolDetails> => {
      const { principal } = callerOf(request)
      const tool = await registered.current(request.params.name)
      if (!tool || !maySee(principal, tool)) throw new CountersignError('not_found', `there is no tool ${request.params.name}`)
      const { change } = tool
      const policy = mayReadPolicy(principal) ? await store.read(policies.inForce) : undefined
      return {
        ...viewTool(tool, tools.groups),
        ...(policy && { usual: usualVerdict(policy.document, tool) }),
        change: change ? { hash: change.hash, fields: change.fields } : null,
        policy: policy
          ? {
              version: policy.version,
              rules: rulesAbout(policy.document, tool),
              default: policy.document.default,
            }
          : null,
      }
    },
  )
}

function acceptToolRoute(app: App, deps: HttpDeps): void {
  app.post(
    '/api/tools/:name/accept',
    route('admin', {
      operationId: 'acceptTool',
      summary: 'Accept the changed definition of a tool',
      errors: ['forbidden', 'revision_mismatch'],
      params: Params,
      body: AcceptToolBody,
      response: { 200: z.object({ accepted: z.string() }) },
    }),
    async (request) => {
      await acceptTool(deps, request.params.name, request.body.hash, callerOf(request))
      return { accepted: request.params.name }
    },
  )
}

function listToolSourcesRoute(app: App, { tools, sources }: HttpDeps): void {
  app.get(
    '/api/sources',
    route('person', {
      operationId: 'listToolSources',
      summary: 'List where tools come from, and which source is away',
      errors: ['forbidden'],
      response: { 200: z.object({ items: z.array(ToolSourceView) }) },
    }),
    async (_request) => {
      const counts = new Map<string, number>()
      for (const { group } of tools.all()) counts.set(group, (counts.get(group) ?? 0) + 1)
      const items = [...tools.groups].map(([group, kind]): ToolSourceView => {
        const away = sources.get(group)?.away
        return {
          ...{ group, kind, tools: counts.get(group) ?? 0 },
          away: away ? { since: isoTime(away.sinceMs), why: away.why } : null,
        }
      })
      return { items }
    },
  )
}
