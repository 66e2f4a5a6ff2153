import type { Session } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { act, actionsIn, open, openSessionDesk, recordOf, rename, say, titles } from '../testing/session-helpers.ts'
import { startTalk } from '../testing/talk.ts'
import { startTestServer } from '../testing/test-server.ts'

test('the owner and admins rename a session: readers hear of it, the record knows who, and nobody else may', async () => {
  await using desk = await openSessionDesk()
  const { server, admin, lea, bob, ann } = desk
  const id = await open(lea, 'First')
  using stream = await lea.stream(`/api/sessions/${id}/events`)
  expect((await rename(lea, id, '  Lamps for the office  ')).body).toMatchObject({ id, title: 'Lamps for the office' })
  expect(await stream.next('session_renamed')).toEqual({ title: 'Lamps for the office', by: { id: lea.principal.id, name: 'Lea' } })
  expect((await rename(admin, id, 'Lamps')).body.title).toBe('Lamps')
  await stream.next('session_renamed', ({ title }) => title === 'Lamps')
  // Renaming to the same title is not recorded again.
  expect((await rename(lea, id, 'Lamps')).status).toBe(200)
  const rows = await recordOf(admin, 'session_renamed')
  expect(
    rows.map(({ scope, actor, data }: { scope: string; actor: { name: string }; data: unknown }) => [scope, actor.name, data]),
  ).toEqual([
    [id, expect.any(String), { session: id }],
    [id, 'Lea', { session: id }],
  ])

  expect((await rename(bob, id, 'Mine')).status).toBe(404)
  await lea.post(`/api/sessions/${id}/participants`, { person: bob.principal.id })
  expect((await rename(bob, id, 'Mine')).body.code).toBe('forbidden')
  expect((await rename(ann, id, 'Mine')).status).toBe(404)
  const agent = await server.as({ name: 'hers', kind: 'agent', person: lea.principal.id })
  const its = await open(agent)
  expect((await rename(lea, its, 'Of my agent')).status).toBe(200)
  for (const title of ['', '   ', 'x'.repeat(201), 7, null]) expect((await rename(lea, id, title)).status, JSON.stringify(title)).toBe(400)
  const both = await lea.send('PATCH', `/api/sessions/${id}`, { body: { title: 'a', agent: 'b' } })
  expect(both.status).toBe(400)
  const odd = 'a\u0000b\u202ec\u{10ffff}0%_\\'
  expect((await rename(lea, id, odd)).body.title).toBe(odd)
  expect((await lea.get(`/api/sessions/${id}`)).title).toBe(odd)
  // The first message sets a session's title only if it has none.
  await say(lea, id, 'hello')
  await server.settle()
  expect((await lea.get(`/api/sessions/${id}`)).title).toBe(odd)
})

test('sessions are found by title and by what was said, letter for letter but for case, and only one’s own', async () => {
  await using desk = await openSessionDesk()
  const { server, admin, lea, bob } = desk
  const said = [
    '100% wool',
    '100 wool',
    'snake_case',
    'snakeXcase',
    'back\\slash',
    'it’s "quoted" \'q\'',
    'STRASSE Größe ÜBER',
    'Ωmega 漢字',
    'one Nul\0byte',
  ]
  for (const [i, text] of said.entries()) await say(lea, await open(lea, `lea ${i}`), text)
  await say(bob, await open(bob, 'bob 0'), 'the secret of wool')
  await server.settle()
  const find = (who: ApiClient, q: string) => titles(who, `q=${encodeURIComponent(q)}`)
  for (const [q, expected] of [
    ['wool', ['lea 1', 'lea 0']],
    ['WOOL', ['lea 1', 'lea 0']],
    ['100%', ['lea 0']],
    ['%', ['lea 0']],
    ['_', ['lea 2']],
    ['snake_case', ['lea 2']],
    ['\\', ['lea 4']],
    ['"', ['lea 5']],
    ["'q'", ['lea 5']],
    ['größe', ['lea 6']],
    ['GRÖSSE', []],
    ['ü', ['lea 6']],
    ['ωMEGA', ['lea 7']],
    ['漢', ['lea 7']],
    ['LEA 3', ['lea 3']],
    ['you said: snakexCASE', ['lea 3']],
    ['secret', []],
    ['nothing of it', []],
    ['\0', ['lea 8']],
    ['nul\0BYTE', ['lea 8']],
    ['wool\0', []],
    ['\0wool', []],
    ['', ['lea 8', 'lea 7', 'lea 6', 'lea 5', 'lea 4', 'lea 3', 'lea 2', 'lea 1', 'lea 0']],
  ] as const) {
    expect(await find(lea, q), q).toEqual(expected)
  }
  expect(await find(bob, 'wool')).toEqual(['bob 0'])
  expect(await find(admin, 'wool')).toEqual(['bob 0', 'lea 1', 'lea 0'])
  // Over all pages each session appears once, and the last page has no cursor.
  const pages: string[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: Session[]; nextCursor: string | null } = await lea.get(
      `/api/sessions?q=lea&limit=3${cursor ? `&cursor=${cursor}` : ''}`,
    )
    pages.push(page.items.map(({ title }) => title))
    cursor = page.nextCursor
  }
  expect(pages).toEqual([
    ['lea 8', 'lea 7', 'lea 6'],
    ['lea 5', 'lea 4', 'lea 3'],
    ['lea 2', 'lea 1', 'lea 0'],
  ])
  expect((await lea.send('GET', `/api/sessions?q=${'x'.repeat(201)}`)).status).toBe(400)
})

test('sessions are filtered by status, one or several, together with words; a status that is none is refused with those there are', async () => {
  await using desk = await openSessionDesk(({ about }) => (about === 'act' ? act('lamp') : { text: 'Done.' }))
  const { server, lea } = desk
  await open(lea, 'new')
  for (const [title, text] of [
    ['done', 'hello'],
    ['waiting', 'act'],
  ] as const) {
    await say(lea, await open(lea, title), text)
  }
  await server.settle()
  for (const [query, expected] of [
    ['status=idle', ['new']],
    ['status=completed', ['done']],
    ['status=waiting_approval', ['waiting']],
    ['status=idle,waiting_approval', ['waiting', 'new']],
    ['status=', ['waiting', 'done', 'new']],
    ['status=active', []],
    ['status=idle,completed&q=hello', ['done']],
    ['status=waiting_approval&q=hello', []],
    ['status=idle,waiting_approval&limit=1', ['waiting']],
  ] as const) {
    expect(await titles(lea, query), query).toEqual(expected)
  }
  const refused = await lea.send('GET', '/api/sessions?status=idle,asleep')
  expect(refused.status).toBe(400)
  expect(refused.body.detail).toContain('"asleep" is not one of idle, active, waiting_approval, completed, error')
})

test('what was redacted is not found: neither what a tool answered nor what was asked is looked through', async () => {
  await using desk = await openSessionDesk(
    ({ results }) => (results === 0 ? act('a hidden lamp') : { text: 'Done.' }),
    () => ({
      status: 200,
      body: { id: 1, note: 'hidden answer' },
    }),
  )
  const { server, admin } = desk
  const id = await open(admin, 'lamps')
  await say(admin, id, 'go')
  await server.settle()
  const [action] = await actionsIn(admin, id)
  await admin.post(`/api/actions/${action?.id}/decision`, { verdict: 'approve' })
  await server.settle()
  for (const q of ['hidden', 'lamp on']) expect(await titles(admin, `q=${q}`)).toEqual([])
  await admin.post(`/api/actions/${action?.id}/redact`, { reason: 'private' })
  expect(await titles(admin, 'q=hidden')).toEqual([])
  expect(await titles(admin, 'q=done')).toEqual(['lamps'])
})

test('a session id that no database can hold is answered like an unknown one', async () => {
  await using talk = await startTalk({ says: [] })
  const { admin } = talk.server
  for (const sessionId of ['\0', 'ses_\0', '\u{10ffff}0', 'ses_none'])
    for (const path of ['/api/chat', '/api/agent-requests'])
      expect([path, sessionId, (await admin.send('POST', path, { body: { message: 'go', sessionId } })).status]).toEqual([
        path,
        sessionId,
        404,
      ])
})

test('without any agent, a session is refused with that reason', async () => {
  await using server = await startTestServer({ config: {} })
  for (const body of [{}, { agent: 'desk' }])
    expect(await server.admin.send('POST', '/api/sessions', { body })).toMatchObject({
      status: 404,
      body: { detail: 'no agent is configured on this server' },
    })
})
