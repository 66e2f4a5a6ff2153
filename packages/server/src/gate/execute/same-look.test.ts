import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue, Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { startTarget } from '../../../../../verification/testing/target.ts'
import { startTestServer } from '../../../../../verification/testing/test-server.ts'
import { systemClock } from '../../clock.ts'
import { openConfig } from '../../config/index.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { prepareAction } from '../propose/prepare.ts'

const policies = fixedPolicies(compilePolicy({ default: 'ask', rules: [] }, 1))
const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['admin'] }
const BODY = { required: true, content: { 'application/json': { schema: { type: 'object' } } } }
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Tasks', version: '1' },
  paths: {
    '/tasks/{id}': {
      parameters: [ID],
      get: { operationId: 'get' },
      put: { operationId: 'put', requestBody: BODY },
      patch: { operationId: 'patch', requestBody: BODY },
      post: { operationId: 'post', requestBody: BODY },
      delete: { operationId: 'delete' },
    },
    '/other/{id}': { parameters: [ID], patch: { operationId: 'elsewhere', requestBody: BODY } },
  },
}

/** A service whose GET answers what it holds, and one tool of each kind that changes it. */
async function openSources(held: { current: JsonValue }) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-look-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'tasks.json'), JSON.stringify(DOCUMENT))
  const target = await startTarget(({ method }) => ({ status: 200, body: method === 'GET' ? held.current : {} }))
  const coded = defineTool({
    name: 'set',
    description: 'Sets members of a task.',
    input: { type: 'object', properties: { id: { type: 'string' }, body: { type: 'object' } }, required: ['id', 'body'] },
    effect: 'write',
    describe: ({ body }) => `Set ${JSON.stringify(body)}`,
    // In the order in which arguments and answer name them, as code does that nobody warned.
    preview: ({ body }) => [
      ...Object.entries((held.current ?? {}) as JsonObject).map(([field, oldValue]) => ({ field, oldValue })),
      ...Object.entries(body as JsonObject).map(([field, newValue]) => ({ field, newValue })),
    ],
    execute: () => ({}),
  })
  const routed = {
    method: 'PATCH',
    path: '/tasks/{id}',
    input: { type: 'object', properties: { id: { type: 'string' }, body: { type: 'object' } }, required: ['id', 'body'] },
    body: '{body}',
    describe: 'Set {body}',
    before: { get: '/tasks/{id}', compare: { a: '{body}', b: '{body}' } },
  } as const
  const config = await openConfig(
    {
      tools: {
        coded: { tools: [coded] },
        routed: { routes: { baseUrl: target.url, tools: { set: routed } } },
        api: {
          openapi: {
            document: 'tasks.json',
            baseUrl: target.url,
            operations: { elsewhere: { describe: 'Set {body}', before: { get: '/tasks/{id}', compare: { a: '{body}', c: '{id}' } } } },
          },
        },
      },
    },
    { environment: {}, folder },
  )
  return { config, target, folder }
}

const WRITES = ['coded.set', 'routed.set', 'api.put', 'api.patch', 'api.post', 'api.delete', 'api.elsewhere']
const NAMES = fc.constantFrom('a', 'b', 'c', 'd', 'z', '10', '9', 'status', 'data', 'id')
const VALUES = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(NAMES, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ) as fc.Arbitrary<JsonValue>,
})).value
const OBJECTS = fc.dictionary(NAMES, VALUES, { maxKeys: 8, noNullPrototype: true }) as fc.Arbitrary<JsonObject>

/** The same value with the members of all its objects turned around. */
function turned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]): [string, JsonValue] => [name, turned(inner ?? null)])
  return Object.fromEntries(members.reverse())
}

test('permuting the keys of the arguments or of the target’s answer changes nothing that a decision is bound to: coded tools, routes, documents', async () => {
  const held: { current: JsonValue } = { current: {} }
  const { config, target } = await openSources(held)
  await using _ = target
  const prepare = (name: string, args: JsonObject) => {
    const tool = config.tools.byName(name)
    if (!tool) throw new Error(`there is no tool ${name}`)
    const call = { tool, arguments: args, agent: undefined, session: null, requesters: [ana] }
    // A slow machine takes as long as it needs to read the target.
    return prepareAction({ ...call, policies, clock: systemClock, previewTimeoutMs: 240_000 })
  }
  const boundTo = async (name: string, args: JsonObject) => {
    const { digest, precondition, description, preview, previewError } = await prepare(name, args)
    // Code that shows what it read in the order of the answer may show it in another order; it rests on the same.
    return { digest, precondition, description, previewError, shown: name === 'coded.set' ? preview?.length : preview }
  }
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WRITES), OBJECTS, fc.oneof(OBJECTS, VALUES), async (name, body, current) => {
      const args: JsonObject = name === 'api.delete' ? { id: '7' } : { id: '7', body }
      held.current = current
      const first = await boundTo(name, args)
      expect(first.previewError).toBeNull()
      held.current = turned(current)
      expect(await boundTo(name, turned(args) as JsonObject)).toEqual(first)
    }),
    { seed: 12, numRuns: 300 },
  )
})

test('an approved PUT and PATCH with members in any order is carried out without being asked again', async () => {
  const held: { current: JsonValue } = { current: { title: 'Ship', status: 'open', assignee: 'dev', updatedAt: 1 } }
  const { target, folder } = await openSources(held)
  await using _ = target
  await using server = await startTestServer({
    config: { tools: { api: { openapi: { document: join(folder, 'tasks.json'), baseUrl: target.url } } } },
  })
  for (const tool of ['api.put', 'api.patch', 'api.post']) {
    const { admin } = server
    const asked = await admin.post('/api/actions', {
      tool,
      arguments: { id: '7', body: { title: 'Land', status: 'done', assignee: 'ben' } },
    })
    expect(asked).toMatchObject({ state: 'proposed', previewError: null })
    // A value that was on no card changes by itself in the meantime.
    held.current = { updatedAt: Number((held.current as JsonObject).updatedAt) + 1, assignee: 'dev', status: 'open', title: 'Ship' }
    await admin.post(`/api/actions/${asked.id}/decision`, { verdict: 'approve', revision: asked.revision, digest: asked.digest })
    await server.settle()
    expect(await admin.get(`/api/actions/${asked.id}`)).toMatchObject({ state: 'succeeded', revision: 1, revised: null })
  }
  expect(target.writes).toHaveLength(3)
})

test('what goes with a DELETE rests on what is shown, and not on what changes by itself', async () => {
  const held: { current: JsonValue } = { current: { title: 'Ship', updatedAt: 1, view_count: 3, etag: 'a', last_seen: 2 } }
  const { config, target } = await openSources(held)
  await using _ = target
  const look = () => config.tools.byName('api.delete')?.preview?.({ id: '7' }, AbortSignal.timeout(240_000))
  const before = await look()
  expect(before?.fields).toEqual([{ field: 'title', oldValue: 'Ship' }])
  held.current = { last_seen: 9, etag: 'b', view_count: 4, updatedAt: 2, title: 'Ship' }
  expect(await look()).toEqual(before)
  held.current = { title: 'Land' }
  expect((await look())?.precondition).not.toEqual(before?.precondition)
})
