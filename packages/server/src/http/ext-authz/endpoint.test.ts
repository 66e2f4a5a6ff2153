import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { rawRequest } from '../../../../../verification/testing/raw-request.ts'
import { temporaryFolder } from '../../../../../verification/testing/test-server.ts'
import { createApp, type HttpDeps } from '../app.ts'

/** The routes with a console, and pages of another origin that may use them. Nobody is known here. */
async function openApp() {
  const folder = temporaryFolder()
  mkdirSync(join(folder.path, 'assets'))
  writeFileSync(join(folder.path, 'index.html'), '<!doctype html>the console')
  writeFileSync(join(folder.path, 'assets', 'app.js'), '')
  writeFileSync(join(folder.path, 'service-worker.js'), '')
  const parts = {
    log: pino({ level: 'silent' }),
    trustedProxies: [],
    consoleDir: folder.path,
    corsOrigins: ['https://shop.example'],
    refusals: { note: () => undefined, flush: async () => undefined },
    publicUrl: undefined,
    consoleCredential: { read: () => undefined, clear: () => undefined },
    directory: { byHash: async () => undefined, expiredAt: async () => undefined },
    limits: { countAttempt: () => undefined, countRequest: () => undefined },
    tools: { all: () => [], onChange: () => undefined },
    agents: new Map(),
    isStopping: () => false,
    trouble: () => undefined,
    hold: { why: undefined },
    gateway: { graceSeconds: 30 },
    clock: { nowMs: () => 0, after: () => () => undefined },
  }
  const app = await createApp(parts as unknown as HttpDeps)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await app.close()
    folder[Symbol.dispose]()
  })
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    (await rawRequest(url, { method, path, headers: { accept: 'text/html', ...headers } })).status
  return { app, url, ask }
}

/** The paths that answer 200 without a key. */
const ANSWERED = [
  '/',
  '/actions',
  '/assets/app.js',
  '/service-worker.js',
  '/healthz',
  '/api/me',
  '/api/openapi.json',
  '/api/docs/static/swagger-initializer.js',
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

test('with a console on the same server nothing behind the prefix of a gateway is answered by it, in whatever spelling', async () => {
  const { ask } = await openApp()
  for (const path of ANSWERED) {
    expect(await ask(path), path).toBe(200)
    for (const method of METHODS) expect(await ask(`/ext-authz${path}`, {}, method), `${method} ${path}`).toBe(403)
  }
  const spellings = [
    '',
    '?',
    '?x=1',
    '/',
    '//',
    '//actions',
    '/../actions',
    '/..%2factions',
    '\\..\\actions',
    ';x/actions',
    '/%zz',
    '/%ff',
    '%2factions',
    '-old/actions',
    's',
    '/#x',
  ]
  for (const path of spellings) expect(await ask(`/ext-authz${path}`), path).toBe(403)
})

test('with the header of a gateway’s key nothing is answered by the console, with whatever prefix', async () => {
  const { ask } = await openApp()
  for (const key of ['', 'wrong'])
    for (const path of [...ANSWERED, '//', '/%zz', '*', 'http://pay.example/actions'])
      expect(await ask(path, { 'x-countersign-key': key }), `${key} ${path}`).toBe(403)
})

test('a preflight that a gateway asks about is not answered as one for this server', async () => {
  const { ask } = await openApp()
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
  expect(await ask('/api/actions', headers, 'OPTIONS')).toBe(204)
  expect(await ask('/ext-authz/api/actions', headers, 'OPTIONS')).toBe(403)
  expect(await ask('/api/actions', { ...headers, 'x-countersign-key': 'wrong' }, 'OPTIONS')).toBe(403)
})
