import type { Principal } from '@countersign/core'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { handleError } from './errors.ts'
import { enforceRights, type Right } from './rights.ts'

const ADMIN: Principal = { id: 'prn_1', kind: 'person', name: 'Ada', roles: ['admin'] }

async function ask(config: { right?: Right }, principal: Principal | undefined, summary = 'List the things') {
  const app = Fastify()
  app.setErrorHandler(handleError)
  app.decorateRequest('principal', undefined)
  app.addHook('onRequest', async (request) => {
    request.principal = principal
  })
  enforceRights(app)
  app.get('/things', { config, schema: { hide: true, summary } }, async () => 'there')
  const { statusCode, body } = await app.inject('/things')
  await app.close()
  return { statusCode, body }
}

test('a route without a right answers nobody, not even an admin', async () => {
  for (const principal of [ADMIN, undefined]) {
    expect(await ask({}, principal)).toMatchObject({ statusCode: 403, body: expect.stringContaining('names no right') })
  }
  expect(await ask({ right: 'anyone' }, ADMIN)).toEqual({ statusCode: 200, body: 'there' })
})

test('a refusal says what the caller may not do', async () => {
  const bot: Principal = { id: 'prn_2', kind: 'agent', name: 'bot', roles: [] }
  expect((await ask({ right: 'admin' }, bot)).body).toContain('"only an admin may list the things"')
  expect((await ask({ right: 'person' }, bot)).body).toContain('"only persons may list the things, bot is an agent"')
  const reader: Principal = { ...ADMIN, scopes: [] }
  expect((await ask({ right: 'decide' }, reader)).body).toContain('"this key may not list the things: it only reads"')
  const limited: Principal = { ...ADMIN, scopes: ['propose', 'decide'] }
  expect((await ask({ right: 'admin' }, limited)).body).toContain(
    '"this key may not act as an admin, and only an admin may list the things: it is limited to propose and decide"',
  )
})

test('a service that only monitors has the right to the metrics, and no other', async () => {
  const monitor: Principal = { id: 'prn_3', kind: 'service', name: 'prometheus', roles: ['monitor'] }
  expect((await ask({ right: 'metrics' }, monitor)).statusCode).toBe(200)
  for (const right of ['anyone', 'by-object', 'propose'] as const) {
    expect(await ask({ right }, monitor), right).toMatchObject({ statusCode: 403, body: expect.stringContaining('monitor alone') })
  }
})
