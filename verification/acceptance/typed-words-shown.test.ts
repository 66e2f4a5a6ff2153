import type { Action, ShownAction } from '@countersign/core'
import { shortIdOf } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { stillClock } from '../testing/shifted-clock.ts'
import { call, startTalk, type Talk, type TalkOptions } from '../testing/talk.ts'

/** What is shown gets older only where a test says so, however long the test takes. */
const start = (options: TalkOptions) => startTalk({ ...options, clock: stillClock() })

/** Starts a session with waiting actions and reads them with the admin's key, so that `client` has not been shown anything. */
async function ask(talk: Talk, client: ApiClient) {
  const { id } = await client.post('/api/sessions', {})
  const path = `/api/sessions/${id}`
  await client.post(`${path}/messages`, { content: 'go' })
  await talk.server.settle()
  const { pendingApprovals } = await talk.server.admin.get(path)
  return { id, path, waiting: pendingApprovals as Action[] }
}

const approver = (talk: Talk, name = 'Ana') => talk.server.as({ name, kind: 'person', roles: ['approver'] })

const noteIn = async (client: ApiClient, path: string): Promise<string> => (await client.get(`${path}/messages?limit=1`)).items[0].content

const stateOf = async ({ server }: Talk, id = '') => (await server.admin.get(`/api/actions/${id}`)).state

const shownFor = ({ id, revision, digest }: Action, forMs: number): ShownAction => ({ actionId: id, revision, digest, forMs })

const ONE = [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Right.' }]

const risky = (risk: 'high' | 'critical'): NonNullable<ConfigInput['policy']> => ({
  rules: [{ name: 'risky', match: { effect: 'write' }, verdict: 'ask', risk }],
})

test('a typed word decides nothing that was not shown to its author, and says so in one sentence', async () => {
  await using talk = await start({ says: ONE })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  talk.letPeopleRead()
  // The admin has read the session, Ana has not.
  const posted = await ana.post(`${path}/messages`, { content: 'yes' })
  expect(posted).toMatchObject({
    decided: [],
    undecided: expect.stringContaining('had not been shown to you'),
    waiting: [{ id: waiting[0]?.id }],
  })
  expect(await noteIn(talk.server.admin, path)).toBe(posted.undecided)
  expect(talk.target.writes).toEqual([])
  // The answer showed the waiting actions, so the word counts one second later.
  expect((await ana.post(`${path}/messages`, { content: 'yes' })).decided).toEqual([])
  talk.letPeopleRead()
  expect((await ana.post(`${path}/messages`, { content: 'yes' })).decided).toMatchObject([{ id: waiting[0]?.id, state: 'approved' }])
})

test('a typed word does not decide an action that appeared less than a second before', async () => {
  await using talk = await start({
    says: [{ calls: [call('a', 'keyed', 'first')] }, { calls: [call('b', 'keyed', 'second')] }, { text: 'Done.' }],
  })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  using stream = await ana.stream(`${path}/events`)
  await stream.next('action_proposed')
  talk.letPeopleRead()
  // Another person decides the first action while Ana types yes to it; the second takes its place.
  await talk.server.admin.post(`/api/actions/${waiting[0]?.id}/decision`, { verdict: 'approve' })
  const { proposal } = await stream.next('action_proposed')
  for (const content of ['yes', 'approve all', 'no', `approve ${proposal.id}`]) {
    expect(await ana.post(`${path}/messages`, { content }), content).toMatchObject({
      decided: [],
      undecided: expect.stringContaining('for a second'),
    })
  }
  expect(await stateOf(talk, proposal.id)).toBe('proposed')
  talk.letPeopleRead()
  expect((await ana.post(`${path}/messages`, { content: 'yes' })).decided).toMatchObject([{ id: proposal.id }])
})

for (const risk of ['high', 'critical'] as const) {
  test(`a typed word never decides an action of ${risk} risk`, async () => {
    await using talk = await start({ says: ONE, policy: risky(risk) })
    const ana = await approver(talk)
    const { path, waiting } = await ask(talk, ana)
    const [action] = (await ana.get(path)).pendingApprovals
    talk.letPeopleRead()
    for (const content of ['yes', 'approve', 'approve all', 'no', `approve ${action.id}`, `approve ${shortIdOf(action.id)}`]) {
      for (const shown of [undefined, [shownFor(action, 60_000)]]) {
        const posted = await ana.post(`${path}/messages`, { content, ...(shown && { shown }) })
        expect(posted, content).toMatchObject({ decided: [], undecided: expect.stringContaining(`${risk} risk`) })
      }
    }
    using stream = await ana.stream('/api/chat', { body: { sessionId: path.split('/').at(-1), message: 'yes' } })
    await stream.next('message', ({ message }) => message.kind === 'note')
    expect(await stateOf(talk, waiting[0]?.id)).toBe('proposed')
    expect(talk.target.writes).toEqual([])
    // The action's card can decide it.
    const { id, revision, digest } = action
    expect(await ana.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })).toMatchObject({ id })
  })
}

test('a typed word never decides text that has to be opened first', async () => {
  const hidden = `pay ${'\u200b'.repeat(20_000)}everything`
  await using talk = await start({ says: [{ calls: [call('a', 'keyed', hidden)] }, { text: 'Right.' }] })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  const [action] = (await ana.get(path)).pendingApprovals
  talk.letPeopleRead()
  for (const content of ['yes', 'approve all', `approve ${action.id}`]) {
    const posted = await ana.post(`${path}/messages`, { content, shown: [shownFor(action, 60_000)] })
    expect(posted).toMatchObject({ decided: [], undecided: expect.stringContaining('more text than is shown at once') })
  }
  expect(await stateOf(talk, waiting[0]?.id)).toBe('proposed')
  expect(talk.target.writes).toEqual([])
})

test('"approve all" decides what it may and leaves the rest to the cards', async () => {
  await using talk = await start({
    says: [{ calls: [call('a', 'keyed', 'small'), call('b', 'keyed', 'x'.repeat(3_000))] }, { text: 'Right.' }],
  })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  await ana.get(path)
  talk.letPeopleRead()
  const posted = await ana.post(`${path}/messages`, { content: 'approve all' })
  expect(posted).toMatchObject({
    decided: [{ id: waiting[0]?.id }],
    undecided: expect.stringContaining('more text than is shown at once'),
    waiting: [{ id: waiting[1]?.id, state: 'proposed' }],
  })
})

test('what the client says it showed is held against the action as it is and against how long it has been there', async () => {
  await using talk = await start({ says: ONE })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  const [action] = waiting
  if (!action) throw new Error('an action waits')
  const say = async (shown: ShownAction[]) => (await ana.post(`${path}/messages`, { content: 'yes', shown })).decided
  // The action is only a moment old, so it cannot have been shown for a minute.
  expect(await say([shownFor(action, 60_000)])).toEqual([])
  talk.letPeopleRead()
  expect(await say([])).toEqual([])
  expect(await say([shownFor(action, 999)])).toEqual([])
  expect(await say([{ ...shownFor(action, 5_000), revision: 2 }])).toEqual([])
  expect(await say([{ ...shownFor(action, 5_000), digest: 'sha256:0' }])).toEqual([])
  expect(await say([{ ...shownFor(action, 5_000), actionId: 'act_other' }])).toEqual([])
  expect(talk.target.writes).toEqual([])
  expect(await say([shownFor(action, 1_000)])).toMatchObject([{ id: action.id }])
})

test('a typed word never approves an action that changed since it was first asked, however long the change was shown', async () => {
  const policy: NonNullable<ConfigInput['policy']> = {
    rules: [{ name: 'two people', match: {}, verdict: 'ask', requires: { quorum: 2, roles: ['approver'] } }],
  }
  await using talk = await start({ says: ONE, policy })
  const [ana, ben] = [await approver(talk), await approver(talk, 'Ben')]
  const { path, waiting } = await ask(talk, ana)
  const [action] = waiting
  if (!action) throw new Error('an action waits')
  const { id, revision, digest } = action
  const edit = { verdict: 'approve', revision, digest, arguments: { what: 'y' } }
  const edited: Action = await ben.post(`/api/actions/${id}/decision`, edit)
  expect(edited).toMatchObject({ state: 'proposed', revision: 2 })
  await ana.get(path)
  talk.letPeopleRead()
  for (const shown of [undefined, [shownFor(edited, 1_000)]]) {
    expect(await ana.post(`${path}/messages`, { content: 'yes', ...(shown && { shown }) })).toMatchObject({
      decided: [],
      undecided: expect.stringContaining('changed since it was first asked'),
    })
  }
  expect(talk.target.writes).toEqual([])
  const named = { verdict: 'approve', revision: 2, digest: edited.digest }
  expect(await ana.post(`/api/actions/${id}/decision`, named)).toMatchObject({ state: 'approved' })
})

test('what was shown to one person, to a program or by a HEAD request is not shown to another', async () => {
  await using talk = await start({ says: ONE })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  const ben = await approver(talk, 'Ben')
  const bot = await talk.server.as({ name: 'bot', kind: 'agent', roles: ['agent'], person: ana.principal.id })
  await ben.get(path)
  await bot.send('GET', path)
  await bot.send('GET', `/api/actions/${waiting[0]?.id}`)
  await ana.send('HEAD', path)
  talk.letPeopleRead()
  expect((await ana.post(`${path}/messages`, { content: 'yes' })).decided).toEqual([])
  expect(talk.target.writes).toEqual([])
})

test('what a key that may not decide has read was not shown to its person', async () => {
  await using talk = await start({ says: ONE })
  const ana = await approver(talk)
  const { path, waiting } = await ask(talk, ana)
  const asks = await talk.server.as({ name: 'asks', kind: 'person', person: ana.principal.id, scopes: ['propose'] })
  await asks.get(path)
  using stream = await asks.stream(`${path}/events`)
  await stream.next('action_proposed')
  talk.letPeopleRead()
  expect((await ana.post(`${path}/messages`, { content: 'yes' })).decided).toEqual([])
  expect(await stateOf(talk, waiting[0]?.id)).toBe('proposed')
})

for (const [way, look] of [
  ['its session', (path: string) => path],
  ['the messages', (path: string) => `${path}/messages`],
  ['the inbox', () => '/api/actions?state=proposed'],
  ['the sessions', () => '/api/sessions'],
] as const) {
  test(`after reading ${way} for a second, a typed word counts`, async () => {
    await using talk = await start({ says: ONE })
    const ana = await approver(talk)
    const { path, waiting } = await ask(talk, ana)
    await ana.get(look(path))
    talk.letPeopleRead()
    expect((await ana.post(`${path}/messages`, { content: 'yes' })).decided).toMatchObject([{ id: waiting[0]?.id }])
  })
}

test('after a restart a word counts once the action was shown again for a second', async () => {
  await using talk = await start({ says: ONE })
  const { admin } = talk.server
  const { path, waiting } = await ask(talk, admin)
  talk.letPeopleRead()
  await talk.server.restart()
  expect((await talk.server.admin.post(`${path}/messages`, { content: 'yes' })).decided).toEqual([])
  talk.letPeopleRead()
  expect((await talk.server.admin.post(`${path}/messages`, { content: 'yes' })).decided).toMatchObject([{ id: waiting[0]?.id }])
})

test('with several waiting the word names one by the short id of its card, and without a name lists them', async () => {
  await using talk = await start({ says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { text: 'Right.' }] })
  const { admin } = talk.server
  const { path, waiting } = await ask(talk, admin)
  talk.letPeopleRead()
  const [first, second] = waiting.map(({ id }) => shortIdOf(id))
  const { undecided } = await admin.post(`${path}/messages`, { content: 'yes' })
  expect(undecided).toContain(`${first}: Do x`)
  expect(undecided).toContain(`${second}: Do y`)
  expect((await admin.post(`${path}/messages`, { content: 'approve #zzzzzz' })).undecided).toContain('No action that waits in this session')
  expect((await admin.post(`${path}/messages`, { content: `Approve ${second}` })).decided).toMatchObject([{ id: waiting[1]?.id }])
  expect(await stateOf(talk, waiting[0]?.id)).toBe('proposed')
})

for (const [what, policy, value] of [
  ['of critical risk', risky('critical'), 'x'],
  ['with text to open', undefined, 'x'.repeat(5_000)],
] as const) {
  test(`POST /approve without a name approves nothing ${what}; with its name and digest it does`, async () => {
    await using talk = await start({ says: [{ calls: [call('a', 'keyed', value)] }, { text: 'Right.' }], ...(policy && { policy }) })
    const { admin } = talk.server
    const { path, waiting } = await ask(talk, admin)
    for (const verdict of ['approve', 'approve_all']) {
      expect(await admin.send('POST', `${path}/approve`, { body: { verdict } })).toMatchObject({
        status: 409,
        body: { code: 'illegal_transition', waiting: [waiting[0]?.id] },
      })
    }
    expect(talk.target.writes).toEqual([])
    const { id: actionId, revision, digest } = waiting[0] as Action
    expect(await admin.post(`${path}/approve`, { verdict: 'approve', actionId, revision, digest })).toMatchObject({ pendingApprovals: [] })
  })
}
