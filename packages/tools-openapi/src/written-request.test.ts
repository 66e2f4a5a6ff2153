import type { JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { call, look, openApi, startService } from '../../../verification/testing/described-api.ts'

const list = (name: string, more: JsonObject): JsonObject => ({
  name,
  in: 'query',
  schema: { type: 'array', items: { type: 'string' } },
  ...more,
})

test('an entry of a list that its separator would split is refused, or written so that nobody splits it', async () => {
  await using service = await startService()
  const parameters = [
    list('spaces', { style: 'spaceDelimited', explode: false }),
    list('pipes', { style: 'pipeDelimited', explode: false }),
    list('commas', { explode: false, allowReserved: true }),
    list('each', {}),
  ]
  const { tool } = await openApi({ paths: { '/a': { get: { operationId: 'a', parameters } } } }, { baseUrl: service.url })
  await call(tool('a'), { spaces: ['a|b', 'c'], pipes: ['a b', 'c'], commas: ['a,b/c', 'd'], each: ['a b|c,d'] })
  expect(service.seen[0]?.path).toBe('/a?spaces=a%7Cb%20c&pipes=a%20b%7Cc&commas=a%2Cb/c,d&each=a%20b%7Cc%2Cd')
  const words = (of: string) => `must have entries without ${of}: it is sent as a list joined by them`
  expect(tool('a').check({ spaces: ['a b'], pipes: ['a|b'] })).toMatchObject({
    ok: false,
    issues: [
      { path: '/spaces', message: expect.stringContaining(words('spaces')) },
      { path: '/pipes', message: expect.stringContaining(words('the sign |')) },
    ],
  })
})

test('lists of Swagger 2.0 are joined as it says, also by tabs, and refused where nothing can be joined so', async () => {
  await using service = await startService()
  const parameter = (name: string, place: string, collectionFormat: string): JsonObject => {
    return { name, in: place, type: 'array', items: { type: 'string' }, collectionFormat }
  }
  const formats = ['csv', 'ssv', 'tsv', 'pipes', 'multi']
  const api = await openApi(
    {
      swagger: '2.0',
      paths: {
        '/a': { get: { operationId: 'a', parameters: formats.map((format) => parameter(format, 'query', format)) } },
        '/b': { get: { operationId: 'b', parameters: [parameter('x', 'header', 'tsv')] } },
      },
    },
    { baseUrl: service.url },
  )
  await call(api.tool('a'), Object.fromEntries(formats.map((format) => [format, ['1', '2']])))
  expect(service.seen[0]?.path).toBe('/a?csv=1,2&ssv=1%202&tsv=1%092&pipes=1%7C2&multi=1&multi=2')
  expect(api.tool('a').check({ tsv: ['a\tb'] })).toMatchObject({ ok: false })
  expect(await api.warnings()).toMatchObject([
    { operation: 'GET /b', reason: 'has the parameter x with the style tsv, which is none in header' },
  ])
})

test('a form of what is no object is not sent empty: another kind of body is taken, or the operation is left out', async () => {
  const text = { schema: { type: 'string' } }
  const body = (...types: string[]) => ({ required: true, content: Object.fromEntries(types.map((type) => [type, text])) })
  const api = await openApi(
    {
      paths: {
        '/a': { post: { operationId: 'a', requestBody: body('application/x-www-form-urlencoded') } },
        '/b': { post: { operationId: 'b', requestBody: body('multipart/form-data', 'text/plain') } },
      },
    },
    { baseUrl: 'http://127.0.0.1:9' },
  )
  expect(api.tool('b').definition).toMatchObject({ body: { mediaType: 'text/plain' } })
  expect(await api.warnings()).toMatchObject([
    {
      operation: 'POST /a',
      reason: 'needs a body as application/x-www-form-urlencoded of what is no object, so it has no members to write',
    },
  ])
})

test('what a form cannot say is refused, and not shown as a change that is never sent', async () => {
  const nullable = { anyOf: [{ type: 'string' }, { type: 'null' }] }
  const schema = { type: 'object', properties: { name: nullable, tags: { type: 'array', items: nullable }, meta: { type: 'object' } } }
  const kinds = ['application/x-www-form-urlencoded', 'multipart/form-data']
  const encoding = { meta: { style: 'deepObject', explode: true } }
  const paths = Object.fromEntries(
    kinds.map((type, nth) => [
      `/${nth}`,
      { post: { operationId: `send${nth}`, requestBody: { content: { [type]: { schema, ...(nth === 0 && { encoding }) } } } } },
    ]),
  )
  const { tool } = await openApi({ openapi: '3.1.0', paths }, { baseUrl: 'http://127.0.0.1:9' })
  const refused = (name: string, body: JsonObject) => {
    const checked = tool(name).check({ body })
    return checked.ok ? [] : checked.issues.map(({ path, message }) => `${path} ${message}`)
  }
  const none = 'must not be null: a form cannot say that. Leave it out, or send an empty text'
  for (const name of ['send0', 'send1']) {
    expect(refused(name, { name: null })).toEqual([`/body/name body.name ${none}.`])
    expect(refused(name, { tags: [] })).toEqual(['/body/tags body.tags must not be empty: a form cannot say that. Leave it out.'])
    expect(refused(name, { tags: ['a', null] })).toEqual([`/body/tags body.tags must not hold null: a form cannot say that.`])
    expect(refused(name, { name: '', tags: [''] })).toEqual([])
  }
  expect(refused('send0', { meta: {} })).toHaveLength(1)
  expect(refused('send0', { meta: { a: { b: null } } })).toEqual([
    '/body/meta body.meta must not hold null or an empty list or object: a form cannot say that.',
  ])
  expect(refused('send0', { meta: { a: { b: 1 } } })).toEqual([])
  // A part of its own holds JSON, which can say both.
  expect(refused('send1', { meta: { a: null } })).toEqual([])
})

test('a write whose query or header cannot hold a value is refused: without the value it would change something else', async () => {
  await using service = await startService()
  const none: JsonObject = { anyOf: [{ type: 'string' }, { type: 'null' }] }
  const parameters: JsonObject[] = [
    list('ids', {}),
    list('joined', { explode: false }),
    { name: 'filter', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object' } },
    { name: 'owner', in: 'query', schema: none },
    { name: 'scope', in: 'header', schema: none },
    { name: 'where', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
  ]
  const paths = { '/tasks': { delete: { operationId: 'purge', parameters }, get: { operationId: 'find', parameters } } }
  const { tool } = await openApi({ openapi: '3.1.0', paths }, { baseUrl: service.url })
  const refused = (args: JsonObject) => {
    const checked = tool('purge').check(args)
    return checked.ok ? [] : checked.issues.map(({ path, message }) => `${path} ${message}`)
  }
  expect(refused({ ids: [] })).toEqual(['/ids ids must not be empty: it would not be sent.'])
  expect(refused({ joined: [] })).toEqual(['/joined joined must not be empty: it would not be sent.'])
  expect(refused({ filter: {} })).toEqual(['/filter filter must not be empty: it would not be sent.'])
  expect(refused({ filter: { team: { ids: [] } } })).toEqual([
    '/filter filter must not hold an empty list or object: it would not be sent.',
  ])
  expect(refused({ owner: null })).toEqual(['/owner owner must not be null: it would not be sent.'])
  expect(refused({ scope: null })).toEqual(['/scope scope must not be null: it would not be sent.'])
  // JSON can say both, and a read changes nothing.
  expect(refused({ ids: ['7'], owner: '', filter: { team: '1' }, where: {} })).toEqual([])
  await call(tool('find'), { ids: [], owner: null })
  expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /tasks'])
})

test('a GET that the configuration calls a write is refused what would not be sent, like any other write', async () => {
  const parameters = [list('ids', {})]
  const paths = { '/purge': { get: { operationId: 'purge', parameters } }, '/find': { get: { operationId: 'find', parameters } } }
  const { tool } = await openApi({ paths }, { baseUrl: 'http://127.0.0.1:9', operations: { purge: { effect: 'write' } } })
  expect(tool('purge').check({ ids: [] })).toMatchObject({
    ok: false,
    issues: [{ path: '/ids', message: 'ids must not be empty: it would not be sent.' }],
  })
  expect(tool('purge').check({ ids: ['7'] })).toMatchObject({ ok: true })
  expect(tool('find').check({ ids: [] })).toMatchObject({ ok: true })
})

test('an argument with the name of a member that every object inherits is sent and shown only where it was given', async () => {
  await using service = await startService()
  const text = { schema: { type: 'string' } }
  const parameters: JsonObject[] = [
    { name: 'constructor', in: 'query', ...text },
    { name: 'toString', in: 'header', ...text },
    { name: 'valueOf', in: 'cookie', ...text },
  ]
  const file = { type: 'object', properties: { hasOwnProperty: { type: 'string', format: 'binary' } } }
  const paths = {
    '/orders': {
      get: { operationId: 'get', parameters },
      patch: { operationId: 'patch', parameters },
      post: { operationId: 'send', requestBody: { content: { 'multipart/form-data': { schema: file } } } },
    },
  }
  const { tool } = await openApi({ paths }, { baseUrl: service.url })
  await call(tool('get'))
  expect(await look(tool('patch'))).toMatchObject({ fields: [] })
  await call(tool('patch'))
  for (const { path, headers } of service.seen) {
    expect(path).toBe('/orders')
    expect(headers).not.toHaveProperty('tostring')
    expect(headers).not.toHaveProperty('cookie')
  }
  expect(service.seen).toHaveLength(3)
  expect(tool('send').check({ body: {} })).toMatchObject({ ok: true })
  await call(tool('patch'), { constructor: 'a', toString: 'b', valueOf: 'c' })
  expect(service.seen[3]).toMatchObject({ path: '/orders?constructor=a', headers: { tostring: 'b', cookie: 'valueOf=c' } })
})

const projects = { '/projects/{id}/files': { get: { operationId: 'files' } } }

test('a slash in a value of the path is sent as %2F, and what leads elsewhere is refused in every spelling', async () => {
  await using service = await startService()
  const { tool } = await openApi({ paths: projects }, { baseUrl: service.url })
  await call(tool('files'), { id: 'group/sub group/project.js' })
  expect(service.seen[0]?.path).toBe('/projects/group%2Fsub%20group%2Fproject.js/files')
  const bad = [
    '..',
    '../a',
    'a/..',
    'a/../b',
    'a/.',
    './a',
    '/a',
    'a/',
    'a//b',
    '/',
    'a/%2e%2e',
    'a/%252e%252e/b',
    'a%2F..',
    'a%2Fb',
    'a\\..',
    'a/..;x',
    'a／b',
    'a/\u2024\u2024',
  ]
  for (const id of bad) expect(tool('files').check({ id }), id).toMatchObject({ ok: false, issues: [{ path: '/id' }] })
})

test('whatever a value is, a service that decodes the path up to four times finds the value between the two fixed parts, or it was refused', async () => {
  await using service = await startService()
  const { tool } = await openApi({ paths: projects }, { baseUrl: service.url })
  const piece = fc.constantFrom('a', 'b', '/', '.', '..', '%2e', '%2F', '%25', '%', '\\', ';', ' ', '?', '#', '／', 'é')
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
      const id = pieces.join('')
      if (!tool('files').check({ id }).ok) return
      await call(tool('files'), { id })
      const sent = service.seen.at(-1)?.path ?? ''
      const [, head, value, tail, ...rest] = sent.split('/')
      expect([head, decodeURIComponent(value ?? ''), tail, rest]).toEqual(['projects', id, 'files', []])
      let decoded = value ?? ''
      for (let times = 0; times < 4; times++) {
        decoded = decoded.replace(/(?:%[0-9a-f]{2})+/gi, (run) => decodeURIComponent(run))
        const { pathname } = new URL(`http://host/projects/${decoded.replace(/[?#]/g, '_')}/files`)
        expect(pathname).toMatch(/^\/projects\/.+\/files$/)
        expect(pathname.split('/').length).toBe(decoded.split('/').length + 3)
      }
    }),
    { seed: inject('propertySeed'), numRuns: 300 },
  )
})

test('an entry with a comma is refused in a list that multipart sends as one part: a service would read it as two', async () => {
  const parameters: JsonObject[] = [
    { name: 'to', in: 'formData', type: 'array', items: { type: 'string' } },
    { name: 'file', in: 'formData', type: 'file' },
  ]
  const post = { operationId: 'send', consumes: ['multipart/form-data'], parameters, responses: {} }
  const { tool } = await openApi({ swagger: '2.0', paths: { '/mails': { post } } }, { baseUrl: 'http://127.0.0.1:9' })
  expect(tool('send').check({ body: { to: ['ana@x.com,eve@evil.com'] } })).toMatchObject({
    ok: false,
    issues: [
      { path: '/body/to', message: expect.stringContaining('must have entries without commas: it is sent as a list joined by them') },
    ],
  })
  expect(tool('send').check({ body: { to: ['ana@x.com', 'eve@x.com'] } })).toMatchObject({ ok: true })
})
