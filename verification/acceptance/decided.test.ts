import type { Action, ActionList } from '@countersign/core'
import { expect, test } from 'vitest'
import { settled as untilSettled } from '../testing/decisions.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const ms = (time: string | null): number => Date.parse(time ?? '')

/** Every cell is quoted, and none of these tests puts a quote and a line feed side by side. */
const rowsOf = (csv: string): string[][] =>
  csv
    .split('"\r\n')
    .slice(0, -1)
    .map((line) => line.slice(1).split('","'))

test('an action says when it was decided, started and settled; a retry starts it anew', async () => {
  let isBroken = true
  await using target = await startTarget(() => ({ status: isBroken ? 409 : 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const read = (id: string) => untilSettled({ admin }, id)
  const propose = (what: string): Promise<Action> => admin.post('/api/actions', { tool: 'keyed', arguments: { what } })

  const asked = await propose('letter')
  expect(asked).toMatchObject({ decidedAt: null, startedAt: null, settledAt: null })
  await admin.post(`/api/actions/${asked.id}/decision`, { verdict: 'approve' })
  const failed = await read(asked.id)
  expect(failed.state).toBe('failed')
  expect(ms(failed.decidedAt)).toBe(ms(failed.votes[0]?.at ?? null))
  expect(ms(failed.decidedAt)).toBeGreaterThanOrEqual(ms(failed.createdAt))
  expect(ms(failed.startedAt)).toBeGreaterThanOrEqual(ms(failed.decidedAt))
  expect(ms(failed.settledAt)).toBeGreaterThanOrEqual(ms(failed.startedAt))
  isBroken = false
  expect(await admin.post(`/api/actions/${asked.id}/retry`)).toMatchObject({ state: 'executing', settledAt: null })
  const done = await read(asked.id)
  expect(done.state).toBe('succeeded')
  expect(done.decidedAt).toBe(failed.decidedAt)
  expect(ms(done.startedAt)).toBeGreaterThanOrEqual(ms(failed.settledAt))

  const declined = await admin.post(`/api/actions/${(await propose('two')).id}/decision`, { verdict: 'decline' })
  expect(declined).toMatchObject({ startedAt: null, decidedAt: declined.settledAt })
  const withdrawn = await admin.post(`/api/actions/${(await propose('three')).id}/withdraw`, {})
  expect(withdrawn).toMatchObject({ decidedAt: null, startedAt: null, settledAt: withdrawn.updatedAt })
  const read1: Action = await admin.post('/api/actions', { tool: 'look', arguments: { what: 'x' } })
  expect(await read(read1.id)).toMatchObject({ decidedAt: read1.createdAt })
})

test('who was asked, who decided, and every word of a search narrow the list; so do rule and time', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const desk = await server.as({ name: 'Desk', kind: 'agent', roles: ['agent'] })
  const ben = await server.as({ name: 'Ben Öst', kind: 'person', roles: ['approver'] })
  const propose = async (what: string, by = desk): Promise<string> =>
    (await by.post('/api/actions', { tool: 'unkeyed', arguments: { what } })).id
  const [mug, lamp, pen] = [await propose('a red Mug for Ärger'), await propose('a red lamp'), await propose('a pen "of" ours')]
  const mine = await propose('a hat', admin as typeof desk)
  await ben.post(`/api/actions/${mug}/decision`, { verdict: 'decline' })
  await admin.post(`/api/actions/${lamp}/decision`, { verdict: 'decline' })
  const { createdAt }: Action = await admin.get(`/api/actions/${pen}`)
  const after = new Date(Date.parse(createdAt) + 86_400_000).toISOString()
  const { rule } = (await admin.get(`/api/actions/${pen}`)).policy
  const found = async (query: Record<string, string>) =>
    (await admin.get(`/api/actions?${new URLSearchParams(query)}`)).items.map(({ id }: Action) => id)
  for (const [query, expected] of [
    [{ words: 'red mug' }, [mug]],
    [{ words: 'MUG ärger' }, [mug]],
    [{ words: 'red' }, [lamp, mug]],
    [{ words: '"red mug"' }, [mug]],
    [{ words: '"mug red"' }, []],
    [{ words: '"a red' }, [lamp, mug]],
    [{ words: '  ' }, [mine, pen, lamp, mug]],
    [{ words: '100%' }, []],
    [{ decider: 'ben ö' }, [mug]],
    [{ decider: '' }, [mine, pen, lamp, mug]],
    [{ requesterId: desk.principal.id }, [pen, lamp, mug]],
    [{ requesterId: 'prn_nobody' }, []],
    [{ rule }, [mine, pen, lamp, mug]],
    [{ rule: `${rule} ` }, []],
    [{ rule: '"},' }, []],
    [{ createdAfter: createdAt, state: 'declined' }, createdAt <= (await admin.get(`/api/actions/${lamp}`)).createdAt ? [lamp] : []],
    [{ createdAfter: createdAt, createdBefore: after, requesterId: desk.principal.id, state: 'proposed' }, [pen]],
    [{ createdAfter: after }, []],
    [{ createdAfter: '0000-01-01T00:00:00.000Z' }, [mine, pen, lamp, mug]],
    [{ createdBefore: '1969-12-31T23:59:59.999Z' }, []],
    [{ destination: 'nowhere' }, []],
  ] as const)
    expect(await found(query), JSON.stringify(query)).toEqual(expected)

  await admin.post(`/api/actions/${pen}/decision`, { verdict: 'decline' })
  const settled: Action[] = await Promise.all([pen, lamp, mug].map((id) => admin.get(`/api/actions/${id}`)))
  const [, last, first] = settled.map(({ settledAt }) => settledAt ?? '')
  const settledIn = (from = '', to = '~') =>
    settled.flatMap(({ id, settledAt }) => (settledAt && settledAt >= from && settledAt < to ? [id] : []))
  for (const [query, expected] of [
    [{ settledAfter: last }, settledIn(last)],
    [{ settledBefore: last }, settledIn('', last)],
    [{ settledAfter: first, settledBefore: last }, settledIn(first, last)],
    [{ settledAfter: after }, []],
    [{ settledBefore: first }, []],
    [{ settledBefore: after }, [pen, lamp, mug]],
  ] as const)
    expect(await found(query as Record<string, string>), JSON.stringify(query)).toEqual(expected)
  expect((await admin.send('GET', '/api/actions?settledAfter=yesterday')).status).toBe(400)
})

test('an export holds the rows of the list, as many in both formats, and no cell that a spreadsheet would run', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using server = await startTestServer({
    config: { tools: toolsOf(target), policy: { rules: [], limits: { waitingPerAgent: 1_000 } } },
  })
  const { admin } = server
  const desk = await server.as({ name: 'Desk', kind: 'agent', roles: ['agent'] })
  const other = await server.as({ name: 'Other', kind: 'agent', roles: ['agent'] })
  // More than one page of a reading.
  for (let i = 0; i < 205; i++) await desk.post('/api/actions', { tool: 'unkeyed', arguments: { what: `letter ${i}` } })
  const { id } = await other.post('/api/actions', { tool: 'keyed', arguments: { what: '=cmd' }, description: '=cmd' })
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline', reason: '=HYPERLINK("http://a")' })

  const exported = async (client: { send: typeof admin.send }, query: string) =>
    (await client.send('GET', `/api/actions/export?${query}`)).text
  for (const [query, count] of [
    ['', 206],
    ['state=declined', 1],
    ['words=letter', 205],
    ['words=letter+20', 7],
    ['tool=nothing', 0],
  ] as const) {
    const lines = (await exported(admin, `format=jsonl&${query}`)).split('\n').filter(Boolean)
    const [head = [], ...rows] = rowsOf(await exported(admin, `format=csv&${query}`))
    expect([query, lines.length, rows.length]).toEqual([query, count, count])
    const ids = lines.map((line) => JSON.parse(line).id)
    expect(rows.map((row) => row[head.indexOf('id')])).toEqual(ids)
    expect(new Set(ids).size).toBe(count)
    for (const row of rows) expect(row).toHaveLength(head.length)
  }
  const [head = [], row = []] = rowsOf(await exported(admin, 'format=csv&state=declined'))
  expect(row[head.indexOf('reason')]).toBe(`'=HYPERLINK(""http://a"")`)
  expect(row.filter((cell) => /^[=+@\t\r-]/.test(cell))).toEqual([])
  expect(row[head.indexOf('arguments')]).toBe('{""what"":""=cmd""}')
  expect(Number(row[head.indexOf('waitedMs')])).toBe(ms(row[head.indexOf('decidedAt')] ?? '') - ms(row[head.indexOf('askedAt')] ?? ''))

  // Whoever sees some of the list exports these.
  expect(
    (await exported(other, ''))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ).toEqual([id])
  expect((await admin.send('GET', '/api/actions/export?state=nonsense')).status).toBe(400)
  expect((await server.with({}).send('GET', '/api/actions/export')).status).toBe(401)
})

test('the exported table names who decided an action, and nobody while it waits', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  const requires = { quorum: 2, declineQuorum: 2 }
  await using server = await startTestServer({
    config: { tools: toolsOf(target), policy: { rules: [{ name: 'two', match: {}, verdict: 'ask', requires }] } },
  })
  const { admin } = server
  const people = []
  for (const name of ['Ana', 'Ben', 'Cy']) people.push(await server.as({ name, kind: 'person', roles: ['approver'] }))
  const ids: string[] = []
  for (const what of ['one', 'two']) ids.push((await admin.post('/api/actions', { tool: 'keyed', arguments: { what } })).id)
  for (const [nth, verdict] of (['decline', 'approve', 'approve'] as const).entries())
    await people[nth]?.post(`/api/actions/${ids[0]}/decision`, { verdict, reason: `${verdict}, ${nth}` })
  await people[0]?.post(`/api/actions/${ids[1]}/decision`, { verdict: 'approve' })
  const [head = [], ...rows] = rowsOf((await admin.send('GET', '/api/actions/export?format=csv')).text)
  const cells = (name: string) => rows.map((row) => row[head.indexOf(name)])
  expect(cells('id')).toEqual(ids.toReversed())
  expect([cells('decidedBy'), cells('reason')]).toEqual([
    ['', 'Ben, Cy'],
    ['', 'approve, 1 / approve, 2'],
  ])
})

test('in the order of when they were settled, the last one is first, on every page and in the file; nothing that waits is in it', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const ids: string[] = []
  for (const what of ['one', 'two', 'three', 'four'])
    ids.push((await admin.post('/api/actions', { tool: 'keyed', arguments: { what } })).id)
  const [one, two, three] = ids
  for (const id of [two, one, three]) await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  const settled: Action[] = (await admin.get('/api/actions?order=settled')).items
  const byTime = settled.map(({ id }) => id)
  expect(byTime.toSorted()).toEqual([one, two, three].toSorted())
  // Two of the same millisecond are in the order of their ids.
  const places = settled.map(({ settledAt, id }) => `${settledAt} ${id}`)
  expect(places).toEqual(places.toSorted().reverse())
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: ActionList = await admin.get(`/api/actions?order=settled&limit=1${cursor && `&cursor=${cursor}`}`)
    paged.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  }
  expect(paged).toEqual(byTime)
  const { text } = await admin.send('GET', '/api/actions/export?order=settled&format=csv')
  const cells = rowsOf(text).slice(1)
  expect(cells.map(([id]) => id)).toEqual(byTime)
  // Neither list takes the place of the other, and what waits for somebody is not settled.
  const { nextCursor } = await admin.get('/api/actions?limit=1')
  for (const query of [`order=settled&cursor=${nextCursor}`, 'order=settled&mine=true', 'order=newest'])
    expect((await admin.send('GET', `/api/actions?${query}`)).status, query).toBe(400)
})

test('every order of what was settled is the same on pages and in the file; the cursor of one order is none of another', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const ids: string[] = []
  for (const what of ['one', 'two', 'three']) ids.push((await admin.post('/api/actions', { tool: 'keyed', arguments: { what } })).id)
  const [one = '', two = '', three = ''] = ids
  for (const id of [two, three, one]) await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  const read: Action = await admin.post('/api/actions', { tool: 'look', arguments: { what: 'x' } })
  await untilSettled({ admin }, read.id)
  const listed = async (order: string): Promise<Action[]> => (await admin.get(`/api/actions?order=${order}`)).items
  for (const order of ['settled', 'settled_oldest', 'waited', 'risk']) {
    const whole = (await listed(order)).map(({ id }) => id)
    expect([order, whole.toSorted()]).toEqual([order, [...ids, read.id].toSorted()])
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: ActionList = await admin.get(`/api/actions?order=${order}&limit=1${cursor && `&cursor=${cursor}`}`)
      paged.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    }
    const lines = (await admin.send('GET', `/api/actions/export?format=jsonl&order=${order}`)).text.trim().split('\n')
    expect([order, paged, lines.map((line) => JSON.parse(line).id)]).toEqual([order, whole, whole])
  }
  const waits = (await listed('waited')).map(({ createdAt, decidedAt }) => ms(decidedAt) - ms(createdAt))
  expect(waits.slice(0, 3)).toEqual(waits.slice(0, 3).toSorted((a, b) => b - a))
  // Nobody was asked about the look-up, so it comes last, and its risk is the lowest.
  for (const order of ['waited', 'risk']) expect((await listed(order)).at(-1)?.id).toBe(read.id)
  const { nextCursor } = await admin.get('/api/actions?order=waited&limit=1')
  expect((await admin.send('GET', `/api/actions?order=risk&cursor=${nextCursor}`)).status).toBe(400)
  const refused = await admin.send('GET', '/api/actions?order=longest')
  expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(/order.*asked.*settled_oldest.*waited.*risk/)])
  expect((await admin.send('GET', '/api/actions?order=waited&mine=true')).status).toBe(400)
})
