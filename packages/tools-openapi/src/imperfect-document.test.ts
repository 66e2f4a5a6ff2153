import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, inject, onTestFinished, test } from 'vitest'
import { call, openApi, startService } from '../../../verification/testing/described-api.ts'

test('an operation whose own file is missing is left out with the reason, told when the server starts and by doctor', async () => {
  await using service = await startService()
  const api = await openApi(
    {
      paths: {
        '/a': { get: { operationId: 'a' } },
        '/b': { get: { $ref: './gone.json#/b' }, post: { operationId: 'b' } },
        '/c': { $ref: './gone.json#/c' },
        '/d': { get: { $ref: '#/x-shared/d' } },
      },
      'x-shared': { d: { operationId: 'd', parameters: [{ name: 'q', in: 'query', required: true, schema: { type: 'string' } }] } },
    },
    { baseUrl: service.url },
  )
  expect(api.names).toEqual(['a', 'b', 'd'])
  expect(api.tool('d').check({})).toMatchObject({ ok: false, issues: [{ path: '/q' }] })
  const reason = expect.stringContaining('which could not be read: gone.json')
  expect(await api.warnings()).toMatchObject([
    { event: 'openapi.document_invalid', note: expect.stringContaining('gone.json') },
    { operation: 'GET /b', reason },
    { operation: '/c', reason },
  ])
  expect((await api.check()).filter(({ level }) => level === 'note').map(({ message }) => message)).toEqual([
    expect.stringMatching(/^gone\.json .+; 2 operations or paths are left out$/),
    expect.stringMatching(/^left out: GET \/b refers to .+gone\.json/),
    expect.stringMatching(/^left out: \/c refers to .+gone\.json/),
  ])
})

test('of several files that are missing, each operation that is left out names its own', async () => {
  await using service = await startService()
  const api = await openApi(
    {
      paths: {
        '/a': { get: { operationId: 'a' } },
        '/b': { $ref: './gone.json#/b' },
        '/c': { $ref: 'lost.json#/c' },
        '/d': { $ref: './parts/nowhere.json#/d' },
      },
    },
    { baseUrl: service.url },
  )
  expect((await api.check()).map(({ message }) => message).filter((message) => message.startsWith('left out'))).toEqual([
    'left out: /b refers to ./gone.json#/b, which could not be read: gone.json leads to a file that is not there',
    'left out: /c refers to lost.json#/c, which could not be read: lost.json leads to a file that is not there',
    'left out: /d refers to ./parts/nowhere.json#/d, which could not be read: parts/nowhere.json leads to a file that is not there',
  ])
})

test('a key that a YAML document has twice costs nothing but a note with its line', async () => {
  await using service = await startService()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const yaml = [
    'openapi: 3.0.3',
    'info: {}',
    'paths:',
    '  /a:',
    '    get: { operationId: a }',
    '  /b:',
    '    get:',
    '      operationId: old',
    '      operationId: b',
  ]
  writeFileSync(join(folder, 'api.yaml'), yaml.join('\n'))
  const api = await openApi({ paths: {} }, { baseUrl: service.url, document: join(folder, 'api.yaml') })
  expect(api.names).toEqual(['a', 'b'])
  const note = 'api.yaml has a key twice, line 9: the last one counts'
  expect(await api.warnings()).toMatchObject([{ event: 'openapi.document_invalid', note }])
  expect(await api.check()).toContainEqual({ level: 'note', message: note })
})

test('a format is a hint: whatever its name and the value, a call that fits the rest of the document goes out', async () => {
  await using service = await startService()
  const formats = [
    'duration',
    'google-duration',
    'time',
    'uri',
    'url',
    'hostname',
    'email',
    'regex',
    'json-pointer',
    'uuid',
    'x-own',
    'toString',
  ]
  const parameters = formats.map((format) => ({ name: format, in: 'query', schema: { type: 'string', format } }))
  const { tool } = await openApi({ paths: { '/a': { get: { operationId: 'a', parameters } } } }, { baseUrl: service.url })
  await call(tool('a'), { duration: '30s', time: '10:30', uri: '/relative', email: 'ä@ö' })
  expect(service.seen[0]?.path).toContain('duration=30s')
  const named = { type: 'object', properties: { default: { type: 'string', format: 'uuid' }, format: { const: { format: 'uuid' } } } }
  const body = { required: true, content: { 'application/json': { schema: named } } }
  const api = await openApi({ paths: { '/b': { post: { operationId: 'b', requestBody: body } } } }, { baseUrl: service.url })
  expect(api.tool('b').check({ body: { default: 'x', format: { format: 'uuid' } } })).toMatchObject({ ok: true })
  expect(api.tool('b').check({ body: { format: {} } })).toMatchObject({ ok: false })
  fc.assert(
    fc.property(fc.constantFrom(...formats), fc.string(), (format, value) => {
      expect(tool('a').check({ [format]: value })).toMatchObject({ ok: true })
    }),
    { seed: inject('propertySeed') },
  )
  expect(tool('a').inputSchema).toMatchObject({ properties: { duration: { format: 'duration' } } })
})

test('a header with which a service may take a request for another one is no argument, and an operation that requires one is left out', async () => {
  await using service = await startService()
  const header = (name: string, required = false) => ({ name, in: 'header', required, schema: { type: 'string' } })
  const api = await openApi(
    {
      paths: {
        '/users': {
          parameters: [header('X-HTTP-Method-Override'), header('X-Trace')],
          get: { operationId: 'list' },
          post: { operationId: 'add', parameters: [header('X-Original-URL')] },
        },
        '/jobs': { get: { operationId: 'jobs', parameters: [header('x-http-method', true)] } },
      },
    },
    { baseUrl: service.url },
  )
  expect(api.names).toEqual(['list', 'add'])
  for (const [name, override] of [
    ['list', 'X-HTTP-Method-Override'],
    ['add', 'X-HTTP-Method-Override'],
    ['add', 'X-Original-URL'],
  ] as const) {
    expect(api.tool(name).check({ 'X-Trace': 'a' })).toMatchObject({ ok: true })
    expect(api.tool(name).check({ [override]: 'DELETE' }), `${name} ${override}`).toMatchObject({ ok: false })
  }
  expect((await api.check()).map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^left out: GET \/jobs requires the header x-http-method/),
  )
})
