import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** Returns all items of a list, read page by page. */
async function readAll(server: TestServer, path: string, limit: number): Promise<{ id: string }[]> {
  const items: { id: string }[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { items: { id: string }[]; nextCursor: string | null } = await server.admin.get(
      `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return items
}

test('lists are newest first, and their pages have every item once, whatever their size', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } }, tools: toolsOf(target) },
    scripts: { talk: Array.from({ length: 9 }, (_, i) => ({ text: `Answer ${i}.` })) },
  })
  const { admin } = server
  const sessions: string[] = []
  const actions: string[] = []
  for (let i = 0; i < 7; i++) {
    sessions.unshift((await admin.post('/api/sessions', { title: `session ${i}` })).id)
    actions.unshift((await admin.post('/api/actions', { tool: 'keyed', arguments: { what: `thing ${i}` } })).id)
  }
  const [newest = ''] = sessions
  using stream = await admin.stream(`/api/sessions/${newest}/events`)
  for (let i = 0; i < 4; i++) {
    await admin.post(`/api/sessions/${newest}/messages`, { content: `message ${i}` })
    await stream.next('done')
  }
  await server.settle()
  for (const limit of [1, 2, 3, 7, 8, 200]) {
    expect((await readAll(server, '/api/sessions', limit)).map(({ id }) => id)).toEqual(sessions)
    expect((await readAll(server, '/api/actions', limit)).map(({ id }) => id)).toEqual(actions)
    expect((await readAll(server, '/api/actions?state=proposed', limit)).map(({ id }) => id)).toEqual(actions)
    const messages = (await readAll(server, `/api/sessions/${newest}/messages`, limit)) as { id: string; content: string }[]
    expect(messages.map(({ content }) => content)).toEqual([3, 2, 1, 0].flatMap((i) => [`Answer ${i}.`, `message ${i}`]))
  }
  expect((await admin.get('/api/actions')).items).toHaveLength(7)
})

test('a cursor is good for its own list alone', async () => {
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' }, second: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Done.' }] },
  })
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('done')
  await admin.post('/api/sessions', {})
  for (const name of ['Ben', 'Cleo']) await admin.post('/api/keys', { name, kind: 'person', roles: ['approver'] })
  const lists = [
    ...['/api/sessions', `/api/sessions/${sessionId}/messages`, `/api/sessions/${sessionId}/timeline`],
    ...['/api/keys', '/api/people', '/api/agents', '/api/audit'],
  ]
  const cursors: [of: string, cursor: string][] = []
  for (const path of lists) cursors.push([path, (await admin.get(`${path}?limit=1`)).nextCursor])
  for (const path of lists)
    for (const [of, cursor] of cursors) {
      const { status } = await admin.send('GET', `${path}?limit=1&cursor=${cursor}`)
      expect([path, of, status]).toEqual([path, of, path === of ? 200 : 400])
    }
})

test('a cursor with a place that no list has is refused', async () => {
  await using server = await startTestServer({ config: {} })
  const cursorOf = (place: string) => Buffer.from(`["audit",${place}]`).toString('base64url')
  for (const place of ['1.5', '1e300', '-1e300', '12345678901234567890', 'null', '"7"']) {
    const { status } = await server.admin.send('GET', `/api/audit?cursor=${cursorOf(place)}`)
    expect([place, status]).toEqual([place, 400])
  }
})

test('the pages of people go on past a name of 120 characters', async () => {
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Done.' }] },
  })
  const { admin } = server
  for (const name of ['名'.repeat(120), 'é'.repeat(120), 'x'.repeat(120)])
    await admin.post('/api/keys', { name, kind: 'person', roles: ['approver'] })
  const people = await admin.get('/api/people')
  expect(people.items).toHaveLength(4)
  expect(await readAll(server, '/api/people', 1)).toEqual(people.items)
})

test('actions can be found by state, tool, agent, session and words', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [{ tool: 'unkeyed', arguments: { what: 'the lamp' } }] }] },
  })
  const { admin } = server
  const mug = await admin.post('/api/actions', { tool: 'keyed', arguments: { what: '100% of a mug_1' }, agent: 'billing' })
  const pen = await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'pen' } })
  await admin.post(`/api/actions/${pen.id}/decision`, { verdict: 'decline' })
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const lamp = (await stream.next('action_proposed')).proposal
  for (const [query, expected] of [
    ['state=proposed', [lamp, mug]],
    ['state=declined', [pen]],
    ['state=proposed,declined', [lamp, pen, mug]],
    ['state=', [lamp, pen, mug]],
    ['tool=keyed', [pen, mug]],
    ['tool=keyed&state=proposed', [mug]],
    ['agent=billing', [mug]],
    ['agent=desk', [lamp]],
    [`session=${sessionId}`, [lamp]],
    ['session=ses_none', []],
    ['q=LAMP', [lamp]],
    [`q=${encodeURIComponent('100%')}`, [mug]],
    [`q=${encodeURIComponent('%')}`, [mug]],
    ['q=_', [mug]],
    ['q=', [lamp, pen, mug]],
  ] as const) {
    const { items } = await admin.get(`/api/actions?${query}`)
    expect(
      items.map(({ id }: Action) => id),
      query,
    ).toEqual(expected.map(({ id }) => id))
  }
})

test('a word is found whatever its script and case, and with quotes and backslashes as the argument has them', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  const input = { type: 'object', properties: { command: { type: 'string' } } }
  const run = { method: 'POST' as const, path: '/run', input, describe: 'Run a command' }
  await using server = await startTestServer({
    config: { tools: { shell: { prefix: false, routes: { baseUrl: target.url, tools: { run } } } } },
  })
  const { admin } = server
  const propose = (command: string): Promise<Action> => admin.post('/api/actions', { tool: 'run', arguments: { command } })
  const copy = await propose(String.raw`copy C:\Users\Max "Größe Жанна.txt"`)
  const other = await propose('copy nothing')
  const found = async (query: Record<string, string>) =>
    (await admin.get(`/api/actions?${new URLSearchParams(query)}`)).items.map(({ id }: Action) => id)
  for (const text of [String.raw`c:\users\max`, 'GRÖßE', 'жАННА', '"größe', String.raw`\Max "G`]) {
    const quoted = `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
    expect(await found({ q: text }), text).toEqual([copy.id])
    expect(await found({ words: `copy ${quoted}` }), text).toEqual([copy.id])
  }
  for (const text of ['Жанне', 'Users/Max', '%']) expect(await found({ q: text }), text).toEqual([])
  expect(await found({ q: 'COPY' })).toEqual([other.id, copy.id])
  const zhanna = await server.as({ name: 'Жанна Ålund', kind: 'person', roles: ['viewer'] })
  for (const q of ['жанна', 'åLUND', zhanna.principal.id.toUpperCase()]) {
    const { items } = await admin.get(`/api/people?${new URLSearchParams({ q })}`)
    expect(
      items.map(({ id }: { id: string }) => id),
      q,
    ).toEqual([zhanna.principal.id])
  }
})

test('people find actions by what the policy said, by part of a tool, an agent or a name, and by age, on every page of the list', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: {
      tools: toolsOf(target),
      policy: { rules: [{ name: 'pens are free', match: { tool: 'keyed', when: 'args.what == "pen"' }, verdict: 'allow' }] },
    },
  })
  const { admin } = server
  const zoe = await server.as({ name: 'Zoë 100%_Lin', kind: 'person', roles: ['member'] })
  const propose = (who: TestServer['admin'], tool: string, what: string, agent?: string): Promise<Action> =>
    who.post('/api/actions', { tool, arguments: { what }, ...(agent !== undefined && { agent }) })
  const mug = await propose(admin, 'keyed', 'mug', 'Night-Billing')
  const pen = await propose(admin, 'keyed', 'pen')
  const lamp = await propose(zoe, 'unkeyed', 'lamp')
  await server.settle()
  const all = [lamp, pen, mug]
  const find = (query: Record<string, string>) => readAll(server, `/api/actions?${new URLSearchParams(query)}`, 1)
  for (const [query, expected] of [
    [{ verdict: 'ask' }, [lamp, mug]],
    [{ verdict: 'allow' }, [pen]],
    [{ verdict: 'deny' }, []],
    [{ verdict: 'ask', state: 'proposed', q: 'lamp' }, [lamp]],
    [{ toolText: 'KEY' }, all],
    [{ toolText: 'unkey' }, [lamp]],
    [{ toolText: '%' }, []],
    [{ agentText: 'billing' }, [mug]],
    [{ agentText: '' }, all],
    [{ requester: 'ZOË' }, [lamp]],
    [{ requester: '100%_' }, [lamp]],
    [{ requester: '1_0' }, []],
    [{ requester: 'lin', toolText: 'unkeyed' }, [lamp]],
    [{ createdBefore: pen.createdAt, toolText: 'key' }, all.filter(({ createdAt }) => createdAt < pen.createdAt)],
    [{ createdBefore: '2999-01-01T00:00:00+01:00' }, all],
    // Ids hold times until 3084.
    [{ createdBefore: '3100-01-01T00:00:00Z' }, all],
    [{ mine: 'true', requester: 'zoë' }, [lamp]],
  ] as const) {
    const found = await find(query as Record<string, string>)
    expect(
      found.map(({ id }) => id),
      JSON.stringify(query),
    ).toEqual(expected.map(({ id }) => id))
  }
  for (const query of [
    'verdict=maybe',
    'createdBefore=yesterday',
    'createdBefore=2026-01-01',
    `toolText=${'x'.repeat(201)}`,
    `requester=${'x'.repeat(201)}`,
  ]) {
    expect((await admin.send('GET', `/api/actions?${query}`)).status, query).toBe(400)
  }
})
