import type { Action, Message } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import type { ChildServer } from '../testing/child-server.ts'
import type { EventReader } from '../testing/event-reader.ts'
import { fold } from '../testing/fold.ts'
import { holdLock } from '../testing/hold-lock.ts'
import type { BrainCall } from '../testing/live-brain.ts'
import { openSeveralServers } from '../testing/several-servers.ts'
import { call } from '../testing/talk.ts'
import { openTestDatabase } from '../testing/test-database.ts'

// Only Postgres allows several processes on one database.
const onPostgres = test.skipIf(inject('database') !== 'postgres')

// Each test starts several servers, which takes longer than the default timeout on a busy machine.
const TIME = { timeout: 600_000 }
const TAKEN_OVER = { interval: 100 }
const LONG_DRAIN = new URL('../testing/long-drain.ts', import.meta.url).href

/** Proposes one action, then reports its result. */
const askOnce = (tool: string) => (heard: BrainCall) =>
  heard.results === 0 ? { calls: [call('a', tool, heard.about)] } : { text: `Done with ${heard.about}.` }

const fine = () => ({ status: 200, body: { id: 6 } })

/**
 * Expects that both readers saw the same session: every event of the log once and in order. Chunks, which the message replaces at once,
 * reach only readers of the process that sends them.
 */
function expectSame(one: EventReader, other: EventReader): void {
  expect(fold(one.seen)).toEqual(fold(other.seen))
  const stored = ({ seen }: EventReader) => seen.filter(({ type }) => !/^(delta|reasoning_delta|tool_call_start)$/.test(type))
  expect(stored(one)).toEqual(stored(other))
  for (const { seen } of [one, other]) {
    const ids = seen.flatMap(({ id }) => id ?? [])
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
  }
}

async function begin(server: ChildServer, message: string): Promise<{ sessionId: string; stream: EventReader }> {
  const { id: sessionId } = await server.admin.post('/api/sessions', {})
  const stream = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await server.admin.post(`/api/sessions/${sessionId}/messages`, { content: message })
  return { sessionId, stream }
}

onPostgres('a process uses at most 17 connections, however much it is asked at once', TIME, async () => {
  await using all = await openSeveralServers({ speak: askOnce('read'), answer: fine })
  const server = await all.start()
  const sessions = await Promise.all(Array.from({ length: 25 }, () => begin(server, 'look')))
  for (const { stream } of sessions) {
    await stream.next('done')
    stream[Symbol.dispose]()
  }
  const counted = await all.sql(
    `select application_name as name, count(*)::int from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() group by 1 order by 1`,
  )
  const total = counted.reduce((sum, { count }) => sum + count, 0)
  // Connections are kept once they were opened, so all that were used are counted.
  expect(total, JSON.stringify(counted)).toBeGreaterThan(10)
  expect(total, JSON.stringify(counted)).toBeLessThanOrEqual(17)
})

onPostgres('any process takes a decision, streams any session and answers a long poll; the action runs once', TIME, async () => {
  await using all = await openSeveralServers({ speak: askOnce('unkeyed'), answer: fine })
  const [one, two, three] = await Promise.all([all.start(), all.start(), all.start()])
  const { sessionId, stream } = await begin(one, 'go')
  using elsewhere = await three.admin.stream(`/api/sessions/${sessionId}/events`)
  using inbox = await three.admin.stream('/api/events?after=0')
  const { proposal } = await stream.next('action_proposed')
  expect((await elsewhere.next('action_proposed')).proposal).toEqual(proposal)
  expect((await inbox.next('action_proposed')).proposal).toEqual(proposal)

  const settled = three.admin.get(`/api/actions/${proposal.id}?wait=60&until=settled`)
  expect(await two.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })).toMatchObject({ state: 'approved' })
  expect(await settled).toMatchObject({ state: 'succeeded', attempt: 1 })
  for (const each of [stream, elsewhere]) await each.next('done')
  await inbox.next('action_update', ({ state }) => state === 'succeeded')
  expectSame(elsewhere, stream)
  expect(all.target.writes).toHaveLength(1)
  expect(all.brain.calls).toHaveLength(2)
  stream.close()
})

onPostgres('kill -9 of all three processes while an approval waits: the card, the word and the agent go on at others', TIME, async () => {
  await using all = await openSeveralServers({ speak: askOnce('unkeyed'), answer: fine })
  const three = await Promise.all([all.start(), all.start(), all.start()])
  const [first] = three as [ChildServer, ...ChildServer[]]
  const { sessionId, stream } = await begin(first, 'go')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  const lastSeen = stream.seen.findLast(({ id }) => id !== undefined)?.id
  stream.close()
  await Promise.all(three.map((server) => server.kill()))

  const [one, other, third] = await Promise.all([all.start(), all.start(), all.start()])
  expect(await one.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'waiting_approval', pendingApprovals: [proposal] })
  using watching = await third.admin.stream(`/api/sessions/${sessionId}/events?after=${lastSeen}`)
  // The process that sent her card is gone, so she tells this one what the card shows, a second after it came.
  await expect.poll(() => Date.now() - Date.parse(proposal.createdAt)).toBeGreaterThan(1_000)
  const { id: actionId, revision, digest } = proposal
  const shown = [{ actionId, revision, digest, forMs: Date.now() - Date.parse(proposal.createdAt) }]
  const { decided } = await other.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'approve', shown })
  expect(decided).toMatchObject([{ id: proposal.id, digest: proposal.digest, state: 'approved' }])
  await watching.next('message', ({ message }) => message.content === 'Done with go.')
  await watching.next('done')
  expect(watching.seen.filter(({ type }) => type === 'reset' || type === 'action_proposed')).toEqual([])
  expect(all.target.writes).toMatchObject([{ path: '/unkeyed' }])
  expect(await one.admin.get(`/api/actions/${proposal.id}`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  // The processes that were killed have no row any more.
  await expect.poll(() => all.sql('select count(*)::int as left from process'), TAKEN_OVER).toEqual([{ left: 3 }])
})

onPostgres(
  'kill -9 of the process that carries actions out: what has no key is of unknown outcome, what has one is sent again',
  TIME,
  async () => {
    const hold = Promise.withResolvers<void>()
    await using all = await openSeveralServers({
      speak: (heard) => (heard.results === 0 ? { calls: [call('a', 'keyed', 'x'), call('b', 'unkeyed', 'y')] } : { text: 'I know.' }),
      async answer(_, nth) {
        if (nth <= 2) await hold.promise
        return fine()
      },
    })
    const servers = [await all.start()]
    const { sessionId, stream } = await begin(servers[0] as ChildServer, 'go')
    await stream.next('session_status', ({ pendingApprovals }) => pendingApprovals.length === 2)
    stream.close()
    await servers[0]?.admin.post(`/api/sessions/${sessionId}/approve`, { verdict: 'approve_all' })
    await expect.poll(() => all.target.writes.length, TAKEN_OVER).toBe(2)
    const other = await all.start()
    using watching = await other.admin.stream(`/api/sessions/${sessionId}/events`)
    await servers[0]?.kill()

    await watching.next('message', ({ message }) => message.content === 'I know.')
    const { items } = await other.admin.get(`/api/actions?session=${sessionId}`)
    const byTool = Object.fromEntries(items.map((action: Action) => [action.tool, action]))
    expect(byTool.unkeyed).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
    expect(byTool.keyed).toMatchObject({ state: 'succeeded', attempt: 2 })
    expect(all.target.writes.map(({ path }) => path).toSorted()).toEqual(['/keyed', '/keyed', '/unkeyed'])
    await expect.poll(() => all.sql('select count(*)::int as left from process'), TAKEN_OVER).toEqual([{ left: 1 }])
    hold.resolve()
  },
)

onPostgres('kill -9 of the process that waits for the model: another one makes the call and the run goes on', TIME, async () => {
  const never = Promise.withResolvers<never>()
  await using all = await openSeveralServers({
    speak: () => (all.brain.calls.length === 1 ? never.promise : { text: 'Here I am.' }),
    answer: fine,
  })
  const first = await all.start()
  const { sessionId, stream } = await begin(first, 'go')
  await expect.poll(() => all.brain.calls.length, TAKEN_OVER).toBe(1)
  stream.close()
  const other = await all.start()
  using watching = await other.admin.stream(`/api/sessions/${sessionId}/events`)
  await first.kill()
  await watching.next('done')
  expect(all.brain.calls).toHaveLength(2)
  const { items } = await other.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items.map(({ role, content }: Message) => [role, content])).toEqual([
    ['assistant', 'Here I am.'],
    ['user', 'go'],
  ])
})

for (const [what, nth] of [
  ['the first step', 1],
  ['the step after a tool', 2],
] as const) {
  onPostgres(`kill -9 between the commit that makes ${what} due and the model call: another process goes on`, TIME, async () => {
    await using all = await openSeveralServers({ speak: askOnce('unkeyed'), answer: fine })
    const first = await all.start({ point: 'step.claimed', nth })
    const other = await all.start()
    const { id: sessionId } = await other.admin.post('/api/sessions', {})
    using watching = await other.admin.stream(`/api/sessions/${sessionId}/events`)
    // Without an answer where the process has died by then.
    await first.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'go' }).catch(() => undefined)
    const { proposal } = await watching.next('action_proposed')
    const decider = nth === 1 ? other : first
    await decider.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' }).catch(() => undefined)
    await watching.next('done')
    await expect.poll(() => all.sql('select count(*)::int as left from process'), TAKEN_OVER).toEqual([{ left: 1 }])
    expect(all.brain.calls.map(({ results }) => results)).toEqual([0, 1])
    expect(all.target.writes).toHaveLength(1)
    expect(await other.admin.get(`/api/actions/${proposal.id}`)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(await all.sql('select state, steps::int as steps from run')).toEqual([{ state: 'done', steps: 2 }])
  })
}

onPostgres('however many processes are woken for a session, one makes its model call while that one lives', TIME, async () => {
  const hold = Promise.withResolvers<void>()
  await using all = await openSeveralServers({
    async speak(heard) {
      await hold.promise
      return askOnce('unkeyed')(heard)
    },
    answer: fine,
  })
  const servers = await Promise.all([all.start(), all.start(), all.start()])
  const begun = await Promise.all(servers.map((server, nth) => begin(server, `number ${nth}`)))
  const wake = () =>
    all.sql(
      `select countersign_quiet.add_jobs(json_agg(json_build_object('identifier', 'advance', 'payload', json_build_object('id', id))))
       from session, generate_series(1, 20)`,
    )
  const left = async () => Number((await all.sql('select count(*) as left from graphile_worker.jobs where locked_at is null'))[0].left)
  for (let round = 0; round < 10; round++) {
    await wake()
    // A further commit makes a process look for more jobs.
    await Promise.all(servers.map(({ admin }, nth) => admin.post('/api/sessions', { title: `${round}.${nth}` })))
  }
  await expect.poll(left, TAKEN_OVER).toBe(0)
  await expect.poll(() => all.brain.calls.length, TAKEN_OVER).toBeGreaterThanOrEqual(servers.length)
  expect(all.brain.calls.map(({ about }) => about).toSorted()).toEqual(['number 0', 'number 1', 'number 2'])
  hold.resolve()
  for (const { sessionId, stream } of begun) {
    const { proposal } = await stream.next('action_proposed')
    await wake()
    await servers[0].admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
    await wake()
    await stream.next('done')
    stream.close()
    expect(await servers[1].admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed' })
  }
  expect(all.brain.calls).toHaveLength(6)
  expect(all.target.writes).toHaveLength(3)
})

onPostgres('a run that is cancelled by way of another process ends its model call, and the next message is answered', TIME, async () => {
  const never = Promise.withResolvers<never>()
  await using all = await openSeveralServers({
    speak: () => (all.brain.calls.length === 1 ? never.promise : { text: 'Here I am.' }),
    answer: fine,
  })
  const [one, two] = await Promise.all([all.start(), all.start()])
  const { sessionId, stream } = await begin(one, 'go')
  await expect.poll(() => all.brain.calls.length, TAKEN_OVER).toBe(1)
  await two.admin.post(`/api/sessions/${sessionId}/cancel`)
  // Sent to the process that made the model call: it must not wait for that call to end.
  await one.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'and now?' })
  await stream.next('message', ({ message }) => message.content === 'Here I am.')
  await stream.next('done')
  stream.close()
  // The other process may have answered before this one has hung up.
  await expect.poll(() => all.brain.calls.map(({ state }) => state), TAKEN_OVER).toEqual(['lost', 'answered'])
})

onPostgres('a process that is asked to stop gives its model calls to others at once and finishes its tools', TIME, async () => {
  const never = Promise.withResolvers<never>()
  const toolRuns = Promise.withResolvers<void>()
  const overlaps: boolean[] = []
  await using all = await openSeveralServers({
    speak(heard) {
      if (heard.about === 'tool') return askOnce('unkeyed')(heard)
      const before = all.brain.calls.filter(({ about }) => about === 'model').slice(0, -1)
      overlaps.push(before.some(({ state }) => state === 'open'))
      return before.length === 0 ? never.promise : { text: 'Here I am.' }
    },
    async answer() {
      await toolRuns.promise
      return fine()
    },
    environment: { NODE_OPTIONS: `--import ${LONG_DRAIN}` },
  })
  const first = await all.start()
  const [tool, model] = await Promise.all([begin(first, 'tool'), begin(first, 'model')])
  const { proposal } = await tool.stream.next('action_proposed')
  await first.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await expect.poll(() => [all.target.writes.length, overlaps.length], TAKEN_OVER).toEqual([1, 1])
  const other = await all.start()
  using watching = await other.admin.stream(`/api/sessions/${model.sessionId}/events`)
  const stopped = first.stop()
  await watching.next('done')
  expect(overlaps).toEqual([false, false])
  toolRuns.resolve()
  await stopped
  expect(await other.admin.get(`/api/actions/${proposal.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  using back = await other.admin.stream(`/api/sessions/${tool.sessionId}/events`)
  await back.next('done')
  expect(all.target.writes).toHaveLength(1)
  expect(await all.sql('select count(*)::int as left from process')).toEqual([{ left: 1 }])
  // The run is done before the job that carried it on has ended.
  await expect.poll(() => all.sql('select id from graphile_worker.jobs where locked_at is not null'), TAKEN_OVER).toEqual([])
})

onPostgres(
  'a rolling restart with sessions in flight loses nothing, does nothing twice and asks no model twice at a time',
  TIME,
  async () => {
    const overlaps: string[] = []
    await using all = await openSeveralServers({
      async speak(heard) {
        const same = all.brain.calls.filter(({ about, results }) => about === heard.about && results === heard.results)
        if (same.some((other) => other !== heard && other.state === 'open')) overlaps.push(heard.about)
        // Long enough that some runs are active whenever a server stops.
        await new Promise((resolve) => setTimeout(resolve, 200))
        return askOnce('unkeyed')(heard)
      },
      answer: fine,
      environment: { NODE_OPTIONS: `--import ${LONG_DRAIN}` },
    })
    const first = await all.start()
    const open = await Promise.all(Array.from({ length: 20 }, (_, nth) => begin(first, `number ${nth}`)))
    for (const { stream } of open) stream.close()
    let server = first
    for (let turn = 0; turn < 2; turn++) {
      const next = await all.start()
      const due = open.filter((_, nth) => nth % 2 === turn)
      const approved = due.map(async ({ sessionId }) => {
        using stream = await next.admin.stream(`/api/sessions/${sessionId}/events`)
        await stream.next('session_status', ({ pendingApprovals }) => pendingApprovals.length === 1)
        await next.admin.post(`/api/sessions/${sessionId}/approve`, { verdict: 'approve' })
      })
      await Promise.all([server.stop(), ...approved])
      server = next
    }
    for (const [nth, { sessionId }] of open.entries()) {
      using stream = await server.admin.stream(`/api/sessions/${sessionId}/events`)
      await stream.next('done')
      const { items } = await server.admin.get(`/api/sessions/${sessionId}/messages`)
      expect(items.filter(({ content }: Message) => content === `Done with number ${nth}.`)).toHaveLength(1)
    }
    expect(overlaps).toEqual([])
    const asked = all.brain.calls.map(({ about, results }) => `${about}: ${results}`)
    const once = open.flatMap((_, nth) => [`number ${nth}: 0`, `number ${nth}: 1`])
    expect([...new Set(asked)].toSorted()).toEqual(once.toSorted())
    // A process that hangs up may cross with the answer, which nobody hears then; so each stop may cost a question one more call.
    for (const question of once) expect(asked.filter((other) => other === question).length, question).toBeLessThanOrEqual(3)
    expect(await all.sql('select state, steps::int as steps, count(*)::int as runs from run group by 1, 2')).toEqual([
      { state: 'done', steps: 2, runs: open.length },
    ])
    expect(new Set(all.target.writes.map(({ body }) => (body as { what: string }).what)).size).toBe(open.length)
    expect(all.target.writes).toHaveLength(open.length)
    expect(await all.sql('select count(*)::int as left from process')).toEqual([{ left: 1 }])
  },
)

onPostgres('a process that stood still and was taken over writes nothing with what it had begun', TIME, async () => {
  const hold = Promise.withResolvers<void>()
  await using all = await openSeveralServers({
    speak: askOnce('unkeyed'),
    async answer() {
      await hold.promise
      return fine()
    },
  })
  const frozen = await all.start()
  const { stream } = await begin(frozen, 'go')
  const { proposal } = await stream.next('action_proposed')
  await frozen.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await expect.poll(() => all.target.writes.length, TAKEN_OVER).toBe(1)
  stream.close()
  process.kill(frozen.pid, 'SIGSTOP')
  const other = await all.start()
  // Simulates ten seconds of silence, as the others see them.
  await all.sql(`update process set seen_at = seen_at - 60000 where name like '%:${frozen.pid}'`)
  const unknown = await other.admin.get(`/api/actions/${proposal.id}?wait=60&until=settled`)
  expect(unknown).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
  const [{ id: former }] = await all.sql(`select runner as id from action`)
  process.kill(frozen.pid, 'SIGCONT')
  hold.resolve()
  // The process is back under a new id and still works.
  await expect.poll(() => all.sql('select id from process where id = $1', [former]), TAKEN_OVER).toEqual([])
  await expect.poll(() => all.sql('select count(*)::int as alive from process'), TAKEN_OVER).toEqual([{ alive: 2 }])
  await expect.poll(async () => (await frozen.admin.send('GET', '/readyz')).status, TAKEN_OVER).toBe(200)
  expect(await frozen.admin.get(`/api/actions/${proposal.id}`)).toEqual(unknown)
  expect(all.target.writes).toHaveLength(1)
})

onPostgres(
  'a process that stands still past its lease while it changes rights holds others up for a while: nothing is stuck or done twice',
  TIME,
  async () => {
    const hold = Promise.withResolvers<void>()
    await using database = await openTestDatabase()
    await using all = await openSeveralServers({
      databaseUrl: database.url,
      speak: askOnce('unkeyed'),
      async answer(_, nth) {
        if (nth === 1) await hold.promise
        return fine()
      },
    })
    const frozen = await all.start()
    const underWay: Action = await frozen.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'under way' } })
    await frozen.admin.post(`/api/actions/${underWay.id}/decision`, { verdict: 'approve' })
    await expect.poll(() => all.target.writes.length, TAKEN_OVER).toBe(1)
    const [{ runner: former }] = await all.sql('select runner from action where id = $1', [underWay.id])
    // Not before: it would carry the action out where the first one is slow.
    const other = await all.start()
    const waiting: Action[] = []
    for (const what of ['one', 'two', 'three', 'four']) {
      waiting.push(await other.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } }))
    }
    const held = await holdLock({ database: { kind: 'postgres', url: database.url } }, 'system')
    const body = { document: { rules: [{ name: 'all', match: {}, verdict: 'ask' }] }, reason: 'while it stands still' }
    const saved = frozen.admin.send('PUT', '/api/policy', { body, headers: { 'if-match': '"1"' } })
    await held.isWaitedFor()
    process.kill(frozen.pid, 'SIGSTOP')
    // Now its transaction has all that it waits for, and nobody goes on with it.
    await held.letGo()
    const votes = waiting.map(({ id }) => other.admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } }))
    await all.sql('update process set seen_at = seen_at - 60000 where id = $1', [former])
    const settled = ({ id }: Action): Promise<Action> => other.admin.get(`/api/actions/${id}?wait=60&until=settled`)
    expect(await settled(underWay)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
    expect((await Promise.all(votes)).map(({ status }) => status)).toEqual(waiting.map(() => 200))
    for (const action of waiting) expect(await settled(action)).toMatchObject({ state: 'succeeded', attempt: 1 })
    process.kill(frozen.pid, 'SIGCONT')
    hold.resolve()
    // The database had ended its transaction: it begins again, or says that nothing was changed.
    const { status } = await saved
    expect(status).toBeOneOf([200, 503])
    const versions = await all.sql('select number from policy_version')
    expect(versions).toHaveLength(status === 200 ? 2 : 1)
    await expect.poll(() => all.sql('select id from process where id = $1', [former]), TAKEN_OVER).toEqual([])
    await expect.poll(async () => (await frozen.admin.send('GET', '/readyz')).status, TAKEN_OVER).toBe(200)
    expect(await frozen.admin.get(`/api/actions/${underWay.id}`)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
    const done = all.target.writes.map(({ body: sent }) => (sent as { what: string }).what)
    expect(done.toSorted()).toEqual(['four', 'one', 'three', 'two', 'under way'])
  },
)

onPostgres('nobody misses an event when the connection that hears of them is ended', TIME, async () => {
  await using all = await openSeveralServers({ speak: ({ messages }) => ({ text: `You said ${messages.at(-1)?.content}.` }), answer: fine })
  const [one, two] = await Promise.all([all.start(), all.start()])
  const { sessionId, stream } = await begin(one, 'number 0')
  await stream.next('done')
  using elsewhere = await two.admin.stream(`/api/sessions/${sessionId}/events`)
  for (let nth = 1; nth <= 10; nth++) {
    const ended = all.sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'countersign notices'
      and datname = current_database()`)
    await one.admin.post(`/api/sessions/${sessionId}/messages`, { content: `number ${nth}` })
    await ended
    await stream.next('done')
  }
  const isLast = ({ message }: { message: Message }) => message.content === 'You said number 10.'
  await elsewhere.next('message', isLast)
  await elsewhere.next('done')
  expectSame(elsewhere, stream)
  stream.close()
})

onPostgres('what becomes due after the process that took it in has stopped is done by one that was there before', TIME, async () => {
  await using all = await openSeveralServers({ speak: askOnce('unkeyed'), answer: fine })
  const [one, two] = await Promise.all([all.start(), all.start()])
  const { id } = await one.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' }, expiresIn: 'PT4S' })
  await one.stop()
  expect(await two.admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'expired' })
})
