import type { Action } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { createCodexDialect } from '../../packages/server/src/cli/codex/codex-dialect.ts'
import { between } from '../testing/between-programs.ts'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { freePort } from '../testing/free-port.ts'
import { startTestServer } from '../testing/test-server.ts'

// With the messages of codex app-server 0.169.0, as it sent them; `npm run test:agents` drives the program itself.

const FOLDER = '/home/ana/shop'
const DENY = { name: 'no deploys', match: { tool: 'host.shell', when: 'args.command.contains("deploy")' }, verdict: 'deny' as const }
type Rule = Omit<typeof DENY, 'verdict'> & { verdict: 'allow' | 'deny' }

async function start(flags = {}, rules: Rule[] = [DENY], wait = {}) {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules } }, flags })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana codex', kind: 'agent', agent: 'codex', roles: ['agent'] })
  const ends = between(createCodexDialect(), { base: server.url, authorization: `Bearer ${key}` }, wait)
  ends.agent.send({ id: 2, result: { thread: { id: 't1', cwd: FOLDER }, cwd: FOLDER } })
  await ends.editor.next()
  return { server, ...ends }
}
type Desk = Awaited<ReturnType<typeof start>>

const command = (id: number, text: string, more: object = {}) => ({
  method: 'item/commandExecution/requestApproval',
  id,
  params: {
    kind: 'command',
    threadId: 't1',
    turnId: 'u1',
    itemId: `call_${id}`,
    startedAtMs: 1,
    environmentId: 'local',
    command: `/bin/bash -lc '${text}'`,
    cwd: FOLDER,
    availableDecisions: ['accept', 'cancel'],
    ...more,
  },
})
const resolved = (requestId: number) => ({ method: 'serverRequest/resolved', params: { threadId: 't1', requestId } })
const completed = (id: number, item: object) => ({
  method: 'item/completed',
  params: { threadId: 't1', item: { id: `call_${id}`, ...item } },
})

/** Codex asks; resolves with the card once both prompts are open. */
async function ask({ server, agent, editor }: Desk, request: object): Promise<Action> {
  agent.send(request)
  expect(await editor.message()).toEqual(request)
  return waiting(server)
}

test('an approval in Countersign answers Codex for one call, a late answer of the editor is dropped, and the report ends the action', async () => {
  const desk = await start()
  const { server, agent, editor } = desk
  const card = await ask(desk, command(0, 'npm publish'))
  expect(card).toMatchObject({ description: 'Run npm publish', arguments: { host: 'codex', command: 'npm publish', folder: FOLDER } })
  expect(card).toMatchObject({ toolCallId: 'call_0', context: { run: 'codex t1' }, risk: { level: 'medium' } })
  await decide(server, card, { verdict: 'approve' })
  expect(await agent.message()).toEqual({ id: 0, result: { decision: 'accept' } })
  agent.send(resolved(0))
  expect(await editor.message()).toEqual(resolved(0))
  editor.send({ id: 0, result: { decision: 'cancel' } })
  agent.send(completed(0, { type: 'commandExecution', status: 'completed', exitCode: 0, aggregatedOutput: 'published\n' }))
  expect((await editor.message()).method).toBe('item/completed')
  expect(await settled(server, card.id)).toMatchObject({
    state: 'succeeded',
    result: { ranBy: 'Codex', report: { exitCode: 0, output: 'published\n' } },
  })
  editor.send({ id: 9, method: 'turn/interrupt', params: {} })
  expect((await agent.message()).method).toBe('turn/interrupt')
})

test('what came of a command is unknown when its turn is interrupted while it runs', async () => {
  const desk = await start()
  const card = await ask(desk, command(0, 'npm publish'))
  await decide(desk.server, card, { verdict: 'approve' })
  expect(await desk.agent.message()).toEqual({ id: 0, result: { decision: 'accept' } })
  const turn = (status: string) => ({ method: 'turn/completed', params: { threadId: 't1', turn: { id: 'u1', status } } })
  for (const message of [{ ...turn('interrupted'), params: { ...turn('interrupted').params, threadId: 't2' } }, turn('completed')]) {
    desk.agent.send(message)
    expect((await desk.editor.message()).method).toBe('turn/completed')
  }
  expect(await desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'executing' })
  desk.agent.send(turn('interrupted'))
  await expect.poll(() => desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'outcome_unknown' })
})

test('the editor answers first: its answer passes as it is, and the card is closed as answered elsewhere', async () => {
  const desk = await start()
  const always = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['npm'] } }
  const answers = ['accept', 'acceptForSession', always, 'decline', 'cancel']
  for (const [id, decision] of answers.entries()) {
    const card = await ask(desk, command(id, `npm publish ${id}`))
    desk.editor.send({ id, result: { decision } })
    expect(await desk.agent.message()).toEqual({ id, result: { decision } })
    expect(JSON.stringify(await settled(desk.server, card.id))).toContain('answered elsewhere')
    const late = await desk.server.admin.send('POST', `/api/actions/${card.id}/decision`, { body: { verdict: 'approve' } })
    expect(late.status).toBe(409)
  }
})

test('the editor cannot allow what policy denies, also not with a decision that nobody knows', async () => {
  const { agent, editor } = await start()
  for (const [id, decision] of ['accept', 'acceptForSession', 'yes', null].entries()) {
    agent.send(command(id, 'npm run deploy'))
    editor.send({ id, result: { decision } })
    expect(await agent.message()).toEqual({ id, result: { decision: 'decline' } })
    await editor.next()
  }
})

test('an answer of the editor that is no known decision allows nothing, does not reach Codex, and is recorded', async () => {
  const desk = await start()
  const changes = [{ path: `${FOLDER}/a.ts`, kind: { type: 'add' }, diff: 'x\n' }]
  desk.agent.send({ method: 'item/started', params: { threadId: 't1', item: { type: 'fileChange', id: 'call_0', changes } } })
  await desk.editor.next()
  const patch = { ...command(0, ''), method: 'item/fileChange/requestApproval', params: { threadId: 't1', itemId: 'call_0' } }
  const network = (action: unknown) => ({ applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'a.example', action } } })
  const rule = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['npm'] } }
  // A rule for commands is no decision about files.
  const unknown = [rule, 'acceptForever', 'Accept', null, {}, network('ask'), { ...rule, ...network('allow') }, { accept: true }]
  for (const [id, decision] of unknown.entries()) {
    const card = await ask(desk, id === 0 ? patch : command(id, `npm publish ${id}`))
    desk.editor.send({ id, result: { decision } })
    expect(await desk.agent.message()).toEqual({ id, result: { decision: 'decline' } })
    expect(JSON.stringify(await settled(desk.server, card.id))).toContain('it was not allowed in the editor: an unknown decision')
  }
  expect(desk.complaints.join()).toContain('an unknown decision: "acceptForever"')
  for (const [at, action] of ['allow', 'deny'].entries()) {
    const id = unknown.length + at
    const card = await ask(desk, command(id, `npm publish ${id}`))
    desk.editor.send({ id, result: { decision: network(action) } })
    expect(await desk.agent.message()).toEqual({ id, result: { decision: network(action) } })
    expect(JSON.stringify(await settled(desk.server, card.id))).toContain(
      `it was ${action === 'allow' ? 'allowed' : 'declined'} in the editor`,
    )
  }
})

test('a command that failed in the sandbox is asked about again, although it was approved inside of it', async () => {
  const desk = await start()
  const first = await ask(desk, command(0, 'npm publish'))
  await decide(desk.server, first, { verdict: 'approve' })
  await desk.agent.next()
  const again = command(1, 'npm publish', { itemId: 'call_0' })
  const second = await ask(desk, again)
  expect(second.id).not.toBe(first.id)
  await decide(desk.server, second, { verdict: 'decline', reason: 'Not outside' })
  expect(await desk.agent.message()).toEqual({ id: 1, result: { decision: 'decline' } })
  expect(desk.complaints.join()).toContain('Not outside')
})

test('a command with more rights than the sandbox gives is not the command that policy allows: people see the rights, and no rule for commands matches', async () => {
  const allow: Rule = { name: 'tests run', match: { tool: 'host.shell', when: 'args.command == "npm test"' }, verdict: 'allow' }
  const desk = await start({}, [allow])
  desk.agent.send(command(0, 'npm test'))
  expect(await desk.agent.message()).toEqual({ id: 0, result: { decision: 'accept' } })
  await desk.editor.next()
  const additionalPermissions = { network: { enabled: true }, fileSystem: { read: null, write: ['/home/ana/.ssh'] } }
  const card = await ask(desk, command(1, 'npm test', { additionalPermissions }))
  expect(card).toMatchObject({ tool: 'host.other', arguments: { input: { command: "/bin/bash -lc 'npm test'", additionalPermissions } } })
  expect(JSON.stringify(card.preview)).toContain('/home/ana/.ssh')
  await decide(desk.server, card, { verdict: 'decline' })
  expect(await desk.agent.message()).toEqual({ id: 1, result: { decision: 'decline' } })
  desk.agent.send(command(2, 'npm test', { additionalPermissions: null }))
  expect(await desk.agent.message()).toEqual({ id: 2, result: { decision: 'accept' } })
})

test('where a command runs is not the folder of the thread: one that looks elsewhere is no mere look', async () => {
  const desk = await start()
  const inside = await ask(desk, command(0, 'cat README.md', { cwd: `${FOLDER}/web` }))
  expect(inside).toMatchObject({ tool: 'host.look', arguments: { folder: `${FOLDER}/web` } })
  await decide(desk.server, inside, { verdict: 'decline' })
  expect((await desk.agent.message()).result.decision).toBe('decline')
  const outside = await ask(desk, command(1, 'cat passwd', { cwd: '/etc' }))
  expect(outside).toMatchObject({ tool: 'host.shell', risk: { level: 'high', reasons: ['reaches outside the folder: /etc'] } })
})

test('changed files are on the card as a patch; what is not shown, and what lasts, is declined without a card', async () => {
  const desk = await start()
  const { server, agent, editor } = desk
  const request = (id: number, more: object = {}) => ({
    method: 'item/fileChange/requestApproval',
    id,
    params: { threadId: 't1', turnId: 'u1', itemId: `call_${id}`, startedAtMs: 1, reason: null, grantRoot: null, ...more },
  })
  const changes = [
    { path: `${FOLDER}/new.txt`, kind: { type: 'add' }, diff: '*** Delete File: all\n' },
    { path: `${FOLDER}/a.ts`, kind: { type: 'update', move_path: null }, diff: '@@ -1 +1 @@\n-old\n+new\n' },
    { path: '/etc/hosts', kind: { type: 'delete' }, diff: 'x\n' },
  ]
  agent.send({ method: 'item/started', params: { threadId: 't1', item: { type: 'fileChange', id: 'call_1', changes } } })
  await editor.next()
  const card = await ask(desk, request(1))
  expect(card).toMatchObject({
    tool: 'host.patch',
    arguments: { files: [`${FOLDER}/new.txt`, `${FOLDER}/a.ts`, '/etc/hosts'], outside: true },
    risk: { level: 'high' },
  })
  await decide(server, card, { verdict: 'approve' })
  expect(await agent.message()).toEqual({ id: 1, result: { decision: 'accept' } })

  const sneaky = [{ path: 'a.ts\n*** Update File: b.ts', kind: { type: 'add' }, diff: '' }]
  agent.send({ method: 'item/started', params: { threadId: 't1', item: { type: 'fileChange', id: 'call_2', changes: sneaky } } })
  await editor.next()
  for (const one of [request(2), request(3), request(1, { grantRoot: '/' })]) {
    agent.send(one)
    expect((await agent.message()).result).toEqual({ decision: 'decline' })
  }
  expect((await server.admin.get('/api/actions')).items).toHaveLength(1)
})

test('a patch that Codex changes while people are asked about it is declined: they would approve something else', async () => {
  const desk = await start()
  const { server, agent, editor } = desk
  const changesOf = (diff: string) => [{ path: `${FOLDER}/a.ts`, kind: { type: 'add' }, diff }]
  const started = {
    method: 'item/started',
    params: { threadId: 't1', item: { type: 'fileChange', id: 'call_1', changes: changesOf('x\n') } },
  }
  agent.send(started)
  await editor.next()
  const card = await ask(desk, {
    ...command(1, ''),
    method: 'item/fileChange/requestApproval',
    params: { threadId: 't1', itemId: 'call_1' },
  })
  agent.send(started)
  await editor.next()
  const changed = { method: 'item/fileChange/patchUpdated', params: { threadId: 't1', itemId: 'call_1', changes: changesOf('y\n') } }
  agent.send(changed)
  expect(await agent.message()).toEqual({ id: 1, result: { decision: 'decline' } })
  expect((await settled(server, card.id)).state).toBe('cancelled')
})

test('a server that is restarted while people are asked keeps the question, and an approval after it counts', async () => {
  const { server, agent, editor } = await start({ port: await freePort() }, [DENY], { againMs: 1_000 })
  agent.send(command(1, 'npm publish'))
  await editor.next()
  const card = await waiting(server)
  await server.restart()
  expect((await waiting(server)).id).toBe(card.id)
  await decide(server, card, { verdict: 'approve' })
  expect(await agent.message()).toEqual({ id: 1, result: { decision: 'accept' } })
})

test('a turn that is interrupted while it waits withdraws the card, and Codex gets no answer that it does not wait for', async () => {
  const desk = await start()
  const card = await ask(desk, command(0, 'npm publish'))
  desk.agent.send(resolved(0))
  expect(await desk.editor.message()).toEqual(resolved(0))
  expect((await settled(desk.server, card.id)).state).toBe('cancelled')
  desk.editor.send({ id: 0, result: { decision: 'accept' } })
  desk.editor.send({ id: 5, method: 'x' })
  expect(await desk.agent.message()).toEqual({ id: 5, method: 'x' })
})

test('nothing runs when the server is away, whatever the editor answers', async () => {
  const { editor, agent } = between(createCodexDialect(), { base: 'http://127.0.0.1:9', authorization: 'Bearer cs_x' })
  agent.send(command(0, 'npm publish'))
  editor.send({ id: 0, result: { decision: 'acceptForSession' } })
  expect(await agent.message()).toEqual({ id: 0, result: { decision: 'decline' } })
})
