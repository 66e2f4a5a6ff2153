import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { startTestServer } from '../testing/test-server.ts'

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }

test('a thief with a copy of the database cannot compute a key that was made with an Idempotency-Key', async () => {
  await using server = await startTestServer(talk)
  const made = await server.admin.post('/api/keys', { name: 'CI', kind: 'agent' }, { 'idempotency-key': 'deploy-17' })
  const rows = await server.dump()
  const { hash } = (rows.api_key as { id: string; hash: string }[]).find(({ id }) => id === made.id) ?? {}
  expect(hash).toBe(createHash('sha256').update(made.key).digest('hex'))

  // Uses every text in the database as an HMAC's secret and as its message, and every pair of scope and key as its message.
  const texts = Object.values(rows)
    .flat()
    .flatMap((row) => Object.values(row as object))
    .filter((value): value is string => typeof value === 'string')
  const uses = (rows.once as { scope: string; key: string }[]).map(({ scope, key }) => `${scope} ${key}`)
  expect(uses).toHaveLength(1)
  const computed = texts.flatMap((secret) =>
    [...uses, ...texts].map((message) => `cs_${createHmac('sha256', secret).update(message).digest('base64url')}`),
  )
  expect(computed.length).toBeGreaterThan(1_000)
  expect(computed).not.toContain(made.key)
  expect(JSON.stringify(rows)).not.toContain(made.key)
})

test('a repeated create answers the same key id and says that the key was shown once, also after a restart', async () => {
  await using server = await startTestServer(talk)
  const create = () =>
    server.admin.send('POST', '/api/keys', { body: { name: 'CI', kind: 'agent' }, headers: { 'idempotency-key': 'deploy-17' } })
  const answers = await Promise.all(Array.from({ length: 6 }, create))
  const shown = answers.filter(({ body }) => body.key !== null)
  expect(shown).toHaveLength(1)
  await server.restart()
  const late = await create()
  for (const { status, body } of [...answers, late]) {
    expect({ status, id: body.id }).toEqual({ status: 201, id: shown[0]?.body.id })
    if (body.key === null) expect(body.message).toMatch(/shown once.*revoke/)
  }
  expect(late.body.key).toBeNull()
  const other = { body: { name: 'CI', kind: 'service' }, headers: { 'idempotency-key': 'deploy-17' } }
  expect(await server.admin.send('POST', '/api/keys', other)).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect((await server.admin.get('/api/keys')).items).toHaveLength(1)
  expect((await server.with({ authorization: `Bearer ${shown[0]?.body.key}` }).send('GET', '/api/sessions')).status).toBe(200)
})
