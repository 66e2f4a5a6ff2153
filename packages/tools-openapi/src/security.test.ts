import type { JsonObject } from '@countersign/core'
import { REDACTED } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { call, look, openApi, refusal, startService, variable } from '../../../verification/testing/described-api.ts'
import type { TargetRequest } from '../../../verification/testing/target.ts'

const SECRET = 's3cr3t/of+ours=='
const PAIR = `ada:${SECRET}`

const SCHEMES: Record<string, { scheme: JsonObject; value: string; arrives(request: TargetRequest): unknown; as: string }> = {
  inHeader: {
    scheme: { type: 'apiKey', in: 'header', name: 'X-Key' },
    value: SECRET,
    arrives: ({ headers }) => headers['x-key'],
    as: SECRET,
  },
  inQuery: {
    scheme: { type: 'apiKey', in: 'query', name: 'api key' },
    value: SECRET,
    arrives: ({ path }) => path.split('?')[1],
    as: `api%20key=${encodeURIComponent(SECRET)}`,
  },
  inCookie: {
    scheme: { type: 'apiKey', in: 'cookie', name: 'sid' },
    value: SECRET,
    arrives: ({ headers }) => headers.cookie,
    as: `sid=${encodeURIComponent(SECRET)}`,
  },
  basic: {
    scheme: { type: 'http', scheme: 'Basic' },
    value: PAIR,
    arrives: ({ headers }) => headers.authorization,
    as: `Basic ${Buffer.from(PAIR).toString('base64')}`,
  },
  bearer: {
    scheme: { type: 'http', scheme: 'bearer' },
    value: SECRET,
    arrives: ({ headers }) => headers.authorization,
    as: `Bearer ${SECRET}`,
  },
  oauth: { scheme: { type: 'oauth2', flows: {} }, value: SECRET, arrives: ({ headers }) => headers.authorization, as: `Bearer ${SECRET}` },
}

/** A service whose answers repeat the credentials that it received, in every spelling. */
const echo = ({ method, headers, path, body }: TargetRequest) => ({
  status: method === 'POST' ? 422 : 200,
  body: { message: `you sent ${path} ${JSON.stringify(headers)}, which is ${SECRET}`, [SECRET]: headers, text: body ?? null },
})
const TEXT = {
  required: true,
  content: { 'application/json': { schema: { type: 'object', properties: { message: { type: 'string' } } } } },
}

for (const [name, { scheme, value, arrives, as }] of Object.entries(SCHEMES)) {
  test(`a secret for ${name} stands in the request where the document says, and in nothing that is told`, async () => {
    await using service = await startService(echo)
    const item = { get: { operationId: 'read' }, patch: { operationId: 'change', requestBody: TEXT }, post: { operationId: 'fail' } }
    const api = await openApi(
      { paths: { '/a': item }, components: { securitySchemes: { [name]: scheme } }, security: [{ [name]: [] }] },
      {
        baseUrl: service.url,
        auth: { [name]: variable('SECRET') },
        operations: { fail: { before: { get: '/b', compare: ['message'] } } },
      },
      { SECRET: value },
    )
    const [read, change, fail] = [api.tool('read'), api.tool('change'), api.tool('fail')]
    const args = { body: { message: 'new' } }
    const told = [
      await call(read),
      await call(change, args),
      await look(change, args),
      await look(fail),
      (await refusal(call(fail))).message,
      ...[read, change, fail].map(({ definition, description, inputSchema, credential }) => [
        definition,
        description,
        inputSchema,
        credential,
      ]),
      change.describe(args),
      await api.check(),
      await api.warnings(),
    ]
    expect(service.seen).toHaveLength(6)
    for (const request of service.seen) expect(arrives(request)).toBe(as)
    const text = JSON.stringify(told)
    expect(text).toContain(REDACTED)
    for (const spelling of [SECRET, PAIR, as, encodeURIComponent(SECRET), Buffer.from(PAIR).toString('base64')]) {
      expect(text).not.toContain(JSON.stringify(spelling).slice(1, -1))
    }
    // The identity of the credential is still distinct, because an approval applies to one set of rights.
    expect(change.credential).toMatch(/:[0-9a-f]{32}$/)
  })
}

test('what the configuration gives no value for is named at the start, by the doctor, and when the service does not take the call', async () => {
  await using service = await startService(({ method }) => ({ status: method === 'GET' ? 403 : 404, body: { error: 'no' } }))
  const schemes = { key: SCHEMES.inHeader?.scheme ?? null, app: SCHEMES.inQuery?.scheme ?? null }
  const api = await openApi(
    {
      paths: { '/a': { get: { operationId: 'read' }, post: { operationId: 'write' } } },
      components: { securitySchemes: schemes },
      security: [{ key: [], app: [] }],
    },
    { baseUrl: service.url, auth: { app: SECRET } },
  )
  expect(await api.warnings()).toEqual(
    ['key', 'app'].map((scheme) => ({ group: 'api', scheme, operations: 2, event: 'openapi.no_credential' })),
  )
  const words = 'refused (403): no. Its document asks for key and app, which has no value under auth.'
  expect(await refusal(call(api.tool('read')))).toMatchObject({ kind: 'refused', message: `${service.url} ${words}` })
  expect(await api.check()).toEqual([
    { level: 'ok', message: '2 operations found' },
    { level: 'note', message: '2 operations ask for key, which has no value under auth' },
    { level: 'note', message: '2 operations ask for app, which has no value under auth' },
    { level: 'problem', message: `${service.url} ${words}` },
  ])
  // A refusal for another reason does not mention keys, and incomplete credentials are not sent.
  expect((await refusal(call(api.tool('write')))).message).toBe(`${service.url} refused (404): no.`)
  for (const { path, headers } of service.seen) expect(path + JSON.stringify(headers)).not.toContain('s3cr3t')
})

test('of several ways in the first that is given whole is taken, and an operation that asks for none is sent none', async () => {
  await using service = await startService()
  const { inHeader, inQuery, bearer } = SCHEMES
  const paths: JsonObject = {
    '/both': {
      get: {
        operationId: 'both',
        security: [
          { bearer: [], key: [] },
          { key: [], app: [] },
        ],
      },
    },
    '/open': { get: { operationId: 'open', security: [] } },
    '/any': { get: { operationId: 'any', security: [{}, { bearer: [] }] } },
    '/usual': { get: { operationId: 'usual' } },
  }
  const securitySchemes = { key: inHeader?.scheme ?? null, app: inQuery?.scheme ?? null, bearer: bearer?.scheme ?? null }
  const api = await openApi(
    { paths, components: { securitySchemes }, security: [{ key: [] }] },
    { baseUrl: service.url, auth: { key: 'key-value', app: 'app-value' } },
  )
  for (const name of api.names) await call(api.tool(name))
  expect(service.seen.map(({ path, headers }) => [path, headers['x-key'], headers.authorization])).toEqual([
    ['/both?api%20key=app-value', 'key-value', undefined],
    ['/open', undefined, undefined],
    ['/any', undefined, undefined],
    ['/usual', 'key-value', undefined],
  ])
  expect(await api.warnings()).toEqual([])
})

test('what the headers of the configuration or its credentials set is no argument, so that no card shows another value than is sent', async () => {
  await using service = await startService(() => ({ status: 200, body: { type: 'application/vnd.x+json', who: 'team-token-1' } }))
  const parameter = (place: string, name: string) => ({ name, in: place, required: true, schema: { type: 'string' } })
  const parameters = [
    ...[parameter('header', 'x-key'), parameter('header', 'X-Team'), parameter('query', 'api key'), parameter('cookie', 'sid')],
    ...[parameter('cookie', 'lang'), parameter('cookie', 'theme'), parameter('query', 'page')],
  ]
  const { inHeader, inQuery, inCookie } = SCHEMES
  const api = await openApi(
    {
      paths: { '/a': { get: { operationId: 'read', parameters } } },
      components: { securitySchemes: { key: inHeader?.scheme ?? null, app: inQuery?.scheme ?? null, sid: inCookie?.scheme ?? null } },
      security: [{ key: [], app: [], sid: [] }],
    },
    {
      baseUrl: service.url,
      headers: { Accept: 'application/vnd.x+json', 'X-Team': variable('TEAM'), Cookie: 'lang=en' },
      auth: { key: 'key-value', app: 'app-value', sid: 'sid-value' },
    },
    { TEAM: 'team-token-1' },
  )
  const args = { theme: 'dark', page: '2' }
  for (const set of ['x-key', 'X-Team', 'api_key', 'sid', 'lang']) {
    expect(api.tool('read').check({ ...args, [set]: 'mine' }), set).toMatchObject({ ok: false, issues: [{ path: `/${set}` }] })
  }
  const output = await call(api.tool('read'), args)
  expect(service.seen[0]?.headers).toMatchObject({
    accept: 'application/vnd.x+json',
    'x-key': 'key-value',
    'x-team': 'team-token-1',
    cookie: 'lang=en; theme=dark; sid=sid-value',
  })
  expect(service.seen[0]?.path).toBe('/a?page=2&api%20key=app-value')
  expect(output).toEqual({ type: 'application/vnd.x+json', who: REDACTED })
})

test('a credential that cannot be used is refused when the configuration is opened, without its value', async () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    user: { type: 'http', scheme: 'basic' },
    odd: { type: 'apiKey' },
  }
  const open = (auth: Record<string, string>, environment = {}) =>
    openApi({ paths: { '/a': { get: {} } }, components: { securitySchemes } }, { baseUrl: 'http://127.0.0.1:9', auth }, environment)
  const cases: [auth: Record<string, string>, words: string][] = [
    [{ kee: 'planted' }, 'openapi.auth.kee: is not a security scheme of the document; it has key, user, odd'],
    [{ user: 'planted' }, 'openapi.auth.user: is http basic, which takes name:password'],
    [{ odd: 'planted' }, 'openapi.auth.odd: is an apiKey of which the document does not say where it stands'],
    [{ key: variable('NOWHERE') }, 'openapi.auth.key: needs the environment variable NOWHERE, which is not set'],
    [{ key: variable('LINES') }, 'openapi.auth.key: cannot be sent in a header (it is not shown here)'],
  ]
  for (const [auth, words] of cases) {
    const error = await open(auth, { LINES: 'planted\nplanted' }).catch((reason: unknown) => reason)
    expect(String(error)).toContain(words)
    expect(String(error)).not.toContain('planted')
  }
})
