import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ToolError } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { REDACTED } from '../../packages/toolkit/src/net/index.ts'
import { startTestServer } from '../testing/test-server.ts'

/** Secrets that cannot occur by chance. */
const planted: string[] = []
const plant = (kind: string): string => {
  const canary = `canary-${kind}-${randomBytes(9).toString('hex')}`
  planted.push(canary)
  return canary
}
const many = (count: number, kind: string): string[] => Array.from({ length: count }, () => plant(kind))

async function listen(
  answer: (headers: IncomingHttpHeaders, path: string) => { status: number; headers?: Record<string, string>; body: string },
) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    const { status, headers = {}, body } = answer(request.headers, request.url ?? '')
    request.resume().on('end', () => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests }
}

const escaped = (text: string) => [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** The ways in which a hostile target sends back the values that it got. */
const ECHOES: Record<string, (values: string[]) => { status: number; headers?: Record<string, string>; body: string }> = {
  body: (values) => ({ status: 200, body: JSON.stringify({ values, said: values.join(' and ') }) }),
  keys: (values) => ({ status: 200, body: JSON.stringify(Object.fromEntries(values.map((value) => [value, true]))) }),
  escaped: (values) => ({ status: 200, body: `{"said":"${values.map(escaped).join(' ')}"}` }),
  encoded: (values) => ({ status: 200, body: JSON.stringify(values.map((value) => Buffer.from(value).toString('base64'))) }),
  error: (values) => ({ status: 422, body: JSON.stringify({ detail: `${'x'.repeat(485)} ${values.join(' ')}` }) }),
  crash: (values) => ({ status: 500, body: `no JSON: ${values.join(' ')}` }),
  redirect: ([value = '']) => ({ status: 302, headers: { location: `http://${value}.example/${value}` }, body: '' }),
}

test('of five hundred planted secrets none is in the database, a log, an event, an answer or an error, though targets and models echo them', async () => {
  const headerSecrets = Array.from({ length: 20 }, () => many(10, 'header'))
  const codeSecrets = Array.from({ length: 12 }, () => many(10, 'code'))
  const providerKeys = { OPENAI_API_KEY: plant('openai'), ANTHROPIC_API_KEY: plant('anthropic'), GEMINI_API_KEY: plant('google') }
  const compatibleKey = plant('compatible')
  const strangers = many(70, 'stranger')
  const inUrls = many(40, 'url')
  const cookies = many(40, 'cookie')

  const target = await listen((headers, path) => {
    const values = Object.entries(headers).flatMap(([name, value]) => (name.startsWith('x-secret') ? [String(value)] : []))
    return (ECHOES[path.slice(1)] ?? ECHOES.body)?.(values) ?? { status: 500, body: '' }
  })
  const brain = await listen((headers) => {
    const key = String(headers.authorization).replace('Bearer ', '')
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    const call = { index: 0, id: key, type: 'function', function: { name: 'code_tool0', arguments: JSON.stringify({ how: key }) } }
    const body =
      [...`You gave me ${key}, thanks.`].map((content) => chunk({ content })).join('') +
      chunk({ tool_calls: [call] }) +
      chunk({}, 'tool_calls')
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `${body}data: [DONE]\n\n` }
  })

  const environment = Object.fromEntries(headerSecrets.flat().map((secret, index) => [`SECRET_${index}`, secret]))
  const routes = Object.fromEntries(Object.keys(ECHOES).map((how) => [how, { method: 'GET' as const, path: `/${how}` }]))
  const groups = headerSecrets.map((secrets, group) => [
    `group${group}`,
    {
      routes: {
        baseUrl: target.url,
        headers: Object.fromEntries(secrets.map((_, index) => [`x-secret-${index}`, `\${SECRET_${group * 10 + index}}`])),
        tools: routes,
      },
    },
  ])
  const coded = codeSecrets.map((secrets, index) =>
    defineTool({
      name: `tool${index}`,
      description: 'Says what it knows.',
      input: { type: 'object', properties: { how: { type: 'string' } } },
      effect: 'read',
      credentials: Object.fromEntries(secrets.map((secret, at) => [`secret${at}`, secret])),
      execute({ how }) {
        if (how === 'throw') throw new Error(`failed with ${secrets.join(' ')}`, { cause: new Error(secrets.join(' ')) })
        if (how === 'refuse') throw new ToolError('refused', `refused ${secrets.join(' ')}`)
        return { secrets, said: secrets.join('-') }
      },
    }),
  )
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'openai-compatible/m', tools: ['*'] } },
      tools: { ...Object.fromEntries(groups), code: { tools: coded } },
    },
    environment: {
      ...environment,
      ...providerKeys,
      OPENAI_COMPATIBLE_API_KEY: compatibleKey,
      OPENAI_COMPATIBLE_BASE_URL: `${brain.url}/v1`,
    },
    logLevel: 'trace',
  })

  const answers: string[] = []
  const seen = async (path: string) => answers.push((await server.admin.send('GET', path)).text)
  const propose = async (tool: string, args: object) => {
    const answer = await server.admin.send('POST', '/api/actions', { body: { tool, arguments: args } })
    answers.push(answer.text)
    expect(answer.status, answer.text).toBe(201)
  }
  for (const [group] of groups) for (const how of Object.keys(ECHOES)) await propose(`${group}.${how}`, {})
  for (const tool of coded) for (const how of ['say', 'throw', 'refuse']) await propose(`code.${tool.name}`, { how })
  const session = await server.admin.post('/api/sessions', {})
  const stream = await server.admin.stream(`/api/sessions/${session.id}/events`)
  await server.admin.post(`/api/sessions/${session.id}/messages`, { content: 'What did I give you?' })
  await server.settle()

  // Keys that the server creates are shown once, to the person who made them, and never stored.
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, index) => server.admin.post('/api/keys', { name: `Robot ${index}`, kind: 'agent', roles: ['agent'] })),
  )
  for (const { key } of made) {
    planted.push(key)
    answers.push((await server.with({ authorization: `Bearer ${key}` }).send('GET', '/api/actions')).text)
  }
  for (const key of strangers) answers.push((await server.with({ authorization: `Bearer ${key}` }).send('GET', '/api/me')).text)
  for (const cookie of cookies)
    answers.push((await server.with({ cookie: `__Host-countersign=${cookie}`, 'countersign-console': cookie }).send('GET', '/api/me')).text)
  for (const secret of inUrls) answers.push((await server.admin.send('GET', `/api/me?key=${secret}`)).text)

  for (const path of [
    '/healthz',
    '/readyz',
    '/api/openapi.json',
    '/api/me',
    '/api/agents',
    '/api/tools',
    '/api/sessions',
    `/api/sessions/${session.id}`,
    `/api/sessions/${session.id}/messages`,
    '/api/audit?limit=200',
    '/api/audit/export',
  ]) {
    await seen(path)
  }
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { text: string; body: { items: { id: string }[]; nextCursor: string | null } } = await server.admin.send(
      'GET',
      `/api/actions?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    answers.push(page.text)
    cursor = page.body.nextCursor
  }
  const events = JSON.stringify(stream.seen)
  stream.close()
  const dump = JSON.stringify(await server.dump())
  const files =
    server.database.kind === 'sqlite' ? readdirSync(server.dataDir).map((name) => readFileSync(join(server.dataDir, name), 'latin1')) : []

  expect(planted.length).toBeGreaterThanOrEqual(500)
  // Checks that the test did run: the targets were called and sent everything back, and the server stored the redacted text.
  expect(target.requests()).toBe(groups.length * Object.keys(ECHOES).length)
  expect(dump.split(REDACTED).length).toBeGreaterThan(1_000)
  expect(events).toContain(`You gave me ${REDACTED}, thanks.`)

  const places = { dump, files: files.join('\n'), logs: server.errors.join('\n'), events, answers: answers.join('\n') }
  // Every planted secret starts with the same word, in plain text and in base64; the server makes the keys itself.
  const wanted = ['canary-', Buffer.from('canary').toString('base64'), ...made.map(({ key }) => key)]
  const found = Object.entries(places).flatMap(([place, text]) =>
    wanted
      .filter((piece) => text.includes(piece))
      .map((piece) => `${place}: ${text.slice(Math.max(0, text.indexOf(piece) - 80)).slice(0, 160)}`),
  )
  expect(found).toEqual([])
})
