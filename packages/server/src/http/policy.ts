import {
  CountersignError,
  PageQuery,
  PolicyVersionList,
  PolicyVersionView,
  PolicyView,
  type Principal,
  ReplayedActions,
  RollbackBody,
  SavedPolicy,
  SavePolicyBody,
  ShadowReport,
  TestedCall,
  TestPolicyBody,
} from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Caller, readerOf, requireStanding, transactOnce } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import {
  diffPolicies,
  documentOf,
  endShadow,
  findVersion,
  notesAbout,
  readPolicy,
  reportShadow,
  type Save,
  savePolicy,
  textInForce,
  viewPolicy,
  viewVersion,
  viewVersionWhole,
} from '../policy/index.ts'
import { changeRights, mapInTurn, policyVersions, principals, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'
import { createPolicyTests } from './policy-tests.ts'
import { taggedRoute } from './route.ts'

const Params = z.object({ version: z.coerce.number().int().positive() })
const POLICY = {
  description: 'The policy in force; with `format=yaml` its document as a file that the configuration can name, as its author wrote it',
  content: { 'application/json': { schema: PolicyView }, 'application/yaml': { schema: z.string() } },
}

const FormatQuery = z.object({ format: z.enum(['json', 'yaml']).default('json').describe('The format of the answer.') })

/** Returns the tools and agents that a policy may name. */
const worldOf = ({ tools, agents }: HttpDeps) => ({ tools, agents: [...agents.keys()] })

const route = taggedRoute('policy')

async function save({ store, clock, policies, tools, registered }: HttpDeps, input: Save, caller: Caller): Promise<SavedPolicy> {
  const warnings = await notesAbout(input.document, {
    roles: await store.read(readRoles),
    tools: [...tools.all(), ...(await registered.list())],
  })
  const saved = await transactOnce({ store, clock }, caller, function* ({ outbox, nowMs }) {
    yield* changeRights()
    yield* requireStanding(caller, nowMs)
    const { document: before } = yield* policies.inForce()
    const number = yield* savePolicy(policies, outbox, input, nowMs)
    const changes = diffPolicies(before, input.document)
    return { ...(yield* viewVersion(yield* findVersion(number))), changes, warnings }
  })
  // The policy applies here before it is announced; other processes see it in their next transaction.
  await store.read(() => policies.inForce())
  return saved
}

/** Registers the routes of the policy: the version in force, its versions, and changes. Persons read it; only admins change it. */
export function policyRoutes(app: App, deps: HttpDeps): void {
  inForceRoutes(app, deps)
  versionRoutes(app, deps)
  trialRoutes(app, deps)
}

function inForceRoutes(app: App, deps: HttpDeps): void {
  const { store } = deps
  app.get(
    '/api/policy',
    route('person-with-role', {
      operationId: 'getPolicy',
      summary: 'Read the policy in force',
      errors: ['forbidden'],
      sends: ['ETag'],
      querystring: FormatQuery,
      response: { 200: POLICY },
    }),
    async (request, reply) => {
      const { view, text } = await store.read(function* () {
        return { view: yield* viewPolicy(), text: yield* textInForce() }
      })
      reply.header('etag', `"${view.version}"`)
      if (request.query.format === 'json') return view
      return reply.type('application/yaml').serializer(String).send(text)
    },
  )
  app.put(
    '/api/policy',
    route('admin', {
      operationId: 'savePolicy',
      summary: 'Save a new version of the policy',
      errors: ['revision_mismatch'],
      takes: ['If-Match'],
      sends: ['ETag'],
      body: SavePolicyBody,
      response: { 200: SavedPolicy },
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const { principal } = caller
      const basedOn = versionOf(request)
      const { document, reason, shadow } = request.body
      const use = shadow ? 'shadow' : 'force'
      // Rules may name what agents have registered meanwhile.
      await deps.registered.list()
      const written = typeof document === 'string' ? document : undefined
      const saved = await save(
        deps,
        { document: readPolicy(document, worldOf(deps)), written, reason, use, author: principal, basedOn },
        caller,
      )
      reply.header('etag', `"${shadow ? basedOn : saved.version}"`)
      return saved
    },
  )
  app.post(
    '/api/policy/rollback',
    route('admin', {
      operationId: 'rollBackPolicy',
      summary: 'Put an earlier version of the policy in force again, or the one on trial',
      errors: ['not_found', 'revision_mismatch'],
      body: RollbackBody,
      response: { 200: SavedPolicy },
    }),
    async (request) => {
      const caller = callerOf(request)
      const { principal } = caller
      const { version, reason } = request.body
      const old = await store.read(() => findVersion(version))
      // Tools and agents may have changed since then.
      await deps.registered.list()
      const document = readPolicy(documentOf(old), worldOf(deps))
      // People go back to an earlier version to undo later ones. A trial was a change to the version that it was saved on top of.
      const tried = old.in_use === 'shadow' && old.replaces !== null ? { tried: old.number, basedOn: old.replaces } : { basedOn: undefined }
      return save(deps, { document, written: old.written ?? undefined, reason, use: 'force', author: principal, ...tried }, caller)
    },
  )
}

function versionRoutes(app: App, { store }: HttpDeps): void {
  app.get(
    '/api/policy/versions',
    route('person-with-role', {
      operationId: 'listPolicyVersions',
      summary: 'List the versions of the policy',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: PolicyVersionList },
    }),
    (request) => {
      const { limit, cursor } = request.query
      const before = Number(decodeCursor('policy-versions', cursor, ['number'])?.[0] ?? Number.MAX_SAFE_INTEGER)
      return store.read(function* () {
        const found = yield* policyVersions.listVersions.all({ before, limit: limit + 1 })
        const { items, nextCursor } = pageOf('policy-versions', found, limit, (row) => [row.number])
        return { items: yield* mapInTurn(items, viewVersion), nextCursor }
      })
    },
  )
  app.get(
    '/api/policy/versions/:version',
    route('person-with-role', {
      operationId: 'getPolicyVersion',
      summary: 'Read a version of the policy',
      errors: ['forbidden'],
      params: Params,
      response: { 200: PolicyVersionView },
    }),
    (request) => store.read(() => viewVersionWhole(request.params.version)),
  )
}

function trialRoutes(app: App, deps: HttpDeps): void {
  const { store, clock } = deps
  app.get(
    '/api/policy/shadow',
    route('person-with-role', {
      operationId: 'getPolicyShadow',
      summary: 'Report what the version on trial would have done differently',
      errors: ['forbidden', 'not_found'],
      response: { 200: ShadowReport },
    }),
    (request) => reportShadow(store, readerOf(callerOf(request).principal)),
  )
  app.delete(
    '/api/policy/shadow',
    route('admin', {
      operationId: 'endPolicyShadow',
      summary: 'End the trial of a version of the policy',
      errors: ['not_found'],
      response: { 200: z.object({}) },
    }),
    async (request) => {
      const caller = callerOf(request)
      const nowMs = clock.nowMs()
      await store.transact(function* (outbox) {
        yield* requireStanding(caller, nowMs)
        yield* endShadow(outbox, caller.principal, nowMs)
      })
      return {}
    },
  )
  const testPolicy = createPolicyTests(deps, worldOf(deps))

  app.post(
    '/api/policy/test',
    route('person-with-role', {
      operationId: 'testPolicy',
      summary: 'Test a policy on a call or on past actions',
      errors: ['not_found', 'invalid_arguments'],
      body: TestPolicyBody,
      response: { 200: z.union([TestedCall, ReplayedActions]) },
    }),
    (request) => {
      const { principal } = callerOf(request)
      return testPolicy(request.body, principal)
    },
  )
}

/** True for the persons who may read the policy. */
export const mayReadPolicy = ({ kind, roles }: Principal): boolean => kind === 'person' && roles.length > 0

/**
 * Returns the version that a save is based on. @throws CountersignError `bad_request` without one, so that no save overwrites an unseen
 * version.
 */
function versionOf(request: FastifyRequest): number {
  const given = /^"?(\d{1,15})"?$/.exec(request.headers['if-match'] ?? '')?.[1]
  if (given !== undefined) return Number(given)
  throw new CountersignError(
    'bad_request',
    'If-Match must name the version that the change is based on, as the ETag of GET /api/policy has it',
  )
}

/** Returns the roles that principals have. */
export function* readRoles(): Tx<Set<string>> {
  const rows = yield* principals.listRoles.all({})
  return new Set(rows.flatMap(({ roles }) => JSON.parse(roles) as string[]))
}
