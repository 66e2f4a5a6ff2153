import type { Action } from '@countersign/core'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { ApiAnswer } from '../testing/api-client.ts'
import { bash, decisionOf, FOLDER, reasonOf, startCodingDesk } from '../testing/coding-desk.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { manualClock } from '../testing/manual-clock.ts'
import { startTestServer } from '../testing/test-server.ts'

test('a command of Claude Code waits for a person, is allowed once, and the record has the report of the host', async () => {
  const desk = await startCodingDesk()
  const asked = desk.hook('PreToolUse', bash('npm run deploy', 'toolu_1'))
  const card = await waiting(desk.server)
  expect(card).toMatchObject({
    tool: 'host.shell',
    description: 'Run npm run deploy',
    toolCallId: 'toolu_1',
    executor: 'client',
    agent: 'claude',
    context: { run: 'claude s1' },
    risk: { level: 'medium', setBy: 'tool' },
  })
  expect(card.preview).toContainEqual({ field: 'folder', newValue: FOLDER })
  await decide(desk.server, card, { verdict: 'approve' })
  const answer = await asked
  expect(decisionOf(answer)).toBe('allow')
  expect(answer.body.hookSpecificOutput.updatedInput).toBeUndefined()
  expect((await desk.server.admin.get(`/api/actions/${card.id}`)).state).toBe('executing')

  // The host asks in a second place about the same call: nobody is asked again.
  expect(decisionOf(await desk.hook('PermissionRequest', bash('npm run deploy')))).toBe('allow')

  await desk.hook('PostToolUse', { ...bash('npm run deploy', 'toolu_1'), tool_response: { stdout: 'deployed' } })
  expect(await desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({
    state: 'succeeded',
    result: { ranBy: 'Claude Code', report: { stdout: 'deployed' } },
  })
  expect(decisionOf(await desk.hook('PreToolUse', bash('npm run deploy', 'toolu_1')))).toBe('deny')
})

test('a declined call tells the model the words of the person', async () => {
  const desk = await startCodingDesk()
  const asked = desk.hook('PermissionRequest', bash('git push'))
  const card = await waiting(desk.server)
  expect(card.risk.level).toBe('high')
  await decide(desk.server, card, { verdict: 'decline', reason: 'Not on a Friday' })
  const answer = await asked
  expect(decisionOf(answer)).toBe('deny')
  expect(reasonOf(answer)).toContain('Not on a Friday')
})

const mcp = (argument: string) => ({ tool_name: 'mcp__bank__send', tool_input: { [argument]: 'http://10.0.0.1/x' } })

test.each([
  ['an MCP tool has an argument with a NUL in its name', mcp('to\0')],
  [
    'an address has a NUL in its query',
    { tool_name: 'WebFetch', tool_input: { url: 'https://shop.example/?x-amz-%00=1', prompt: 'Read' } },
  ],
  ['the name of an argument is cut in the middle of a character', mcp(`${'x'.repeat(59)}\u{1f600}`)],
  ['a command writes a file whose name has half a character', bash("echo x > $'/etc/\\ud83d'")],
])('where %s, the call can be declined, and the statistics have it', async (_, call) => {
  const desk = await startCodingDesk()
  const asked = desk.hook('PreToolUse', call)
  const card = await waiting(desk.server)
  expect(card.risk.level).toBe('high')
  await decide(desk.server, card, { verdict: 'decline', reason: 'Never there' })
  expect(reasonOf(await asked)).toContain('Never there')
  expect((await desk.server.admin.get('/api/actions?risk=high')).items).toMatchObject([{ state: 'declined' }])
  expect((await desk.server.admin.send('GET', '/api/stats')).status).toBe(200)
})

test('a call that two hooks of a host ask about at once is allowed in both answers, and is claimed once', async () => {
  const desk = await startCodingDesk()
  const ask = (command: string, id: string) => Promise.all([1, 2].map(() => desk.hook('PreToolUse', bash(command, id))))
  expect((await ask('ls', 'toolu_1')).map(decisionOf)).toEqual(['allow', 'allow'])
  const both = ask('npm run build', 'toolu_2')
  await decide(desk.server, await waiting(desk.server), { verdict: 'approve' })
  expect((await both).map(decisionOf)).toEqual(['allow', 'allow'])
  const { items } = await desk.server.admin.get('/api/actions?state=executing')
  expect(items.map(({ attempt }: Action) => attempt)).toEqual([1, 1])
})

test('an approval is for one call: the one that waited for it first is not allowed as well once another has it', async () => {
  const desk = await startCodingDesk()
  const ask = (id: string, query = '') => desk.hook('PreToolUse', bash('npm publish', id), query)
  expect(decisionOf(await ask('toolu_1', '?limit=1'))).toBe('deny')
  await decide(desk.server, await waiting(desk.server), { verdict: 'approve' })
  expect(decisionOf(await ask('toolu_2'))).toBe('allow')
  const first = await ask('toolu_1')
  expect([decisionOf(first), reasonOf(first)]).toEqual(['deny', expect.stringContaining('that call is running')])
})

test('an answer that does not come in time is a denial, and the same call later finds the approval', async () => {
  const desk = await startCodingDesk()
  const late = await desk.hook('PreToolUse', bash('npm run build', 'toolu_4'), '?limit=1')
  expect(decisionOf(late)).toBe('deny')
  const card = await waiting(desk.server)
  expect(reasonOf(late)).toContain(card.id)
  await decide(desk.server, card, { verdict: 'approve' })
  // Another session did not ask.
  const other = desk.hook('PreToolUse', { ...bash('npm run build', 'toolu_x'), session_id: 's2' }, '?limit=1')
  expect(decisionOf(await other)).toBe('deny')
  expect(decisionOf(await desk.hook('PreToolUse', bash('npm run build', 'toolu_5')))).toBe('allow')
  await desk.hook('PostToolUse', { ...bash('npm run build', 'toolu_5'), tool_response: {} })
  expect((await desk.server.admin.get(`/api/actions/${card.id}`)).state).toBe('succeeded')
})

test('a headless run parks: the call is deferred, and the resumed run gets what was decided', async () => {
  const desk = await startCodingDesk()
  expect(decisionOf(await desk.hook('PreToolUse', bash('npm run build', 'toolu_6'), '?limit=1&park=defer'))).toBe('defer')
  await decide(desk.server, await waiting(desk.server), { verdict: 'approve' })
  expect(decisionOf(await desk.hook('PreToolUse', bash('npm run build', 'toolu_6'), '?park=defer'))).toBe('allow')
})

test('an approval that loses the race to the terminal is answered elsewhere and never ran', async () => {
  const desk = await startCodingDesk()
  const asked = desk.hook('PermissionRequest', bash('npm run build'))
  const card = await waiting(desk.server)
  await desk.hook('PostToolUse', { ...bash('npm run build', 'toolu_7'), tool_response: { stdout: '' } })
  expect(decisionOf(await asked)).toBe('deny')
  const late = await desk.server.admin.send('POST', `/api/actions/${card.id}/decision`, {
    body: { verdict: 'approve', revision: card.revision, digest: card.digest },
  })
  expect(late.status).toBe(409)
  expect(late.body.action).toMatchObject({
    state: 'cancelled',
    attempt: 0,
    error: { message: expect.stringContaining('answered elsewhere') },
  })
})

test('the permission prompts of Claude Code are answered over MCP in its own shape, and its hooks report what came of them', async () => {
  const desk = await startCodingDesk()
  const rpc = (method: string, params: object) =>
    desk.agent.send('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method, params },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    })
  const messageIn = ({ text }: ApiAnswer) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
  const names = messageIn(await rpc('tools/list', {})).result.tools.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['countersign_wait', 'approve'])
  const prompt = (input: unknown) =>
    rpc('tools/call', { name: 'approve', arguments: { tool_name: 'Bash', input, tool_use_id: 'toolu_p' } }).then((answer) =>
      JSON.parse(messageIn(answer).result.content[0].text),
    )
  expect((await prompt('no object')).behavior).toBe('deny')
  const asked = prompt({ command: 'npm run build' })
  const card = await waiting(desk.server)
  await decide(desk.server, card, { verdict: 'approve', arguments: { ...card.arguments, command: 'npm run build -- --fast' } })
  expect(await asked).toEqual({ behavior: 'allow', updatedInput: { command: 'npm run build -- --fast' } })
  await desk.hook('PostToolUse', { ...bash('npm run build -- --fast', 'toolu_p'), tool_response: 'built' })
  expect(await desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'succeeded', result: { report: 'built' } })
})

test('an approval that came too late for a permission prompt over MCP is for the same call of that session alone', async () => {
  const clock = manualClock(Date.now())
  const desk = await startCodingDesk(undefined, clock)
  const rpc = (method: string, params: object, session?: string) =>
    desk.agent.send('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method, params },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...(session && { 'mcp-session-id': session }),
      },
    })
  const open = async () => {
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'claude-code', version: '2.1.330' } }
    return (await rpc('initialize', hello)).headers.get('mcp-session-id') ?? ''
  }
  const prompt = async (id: string, session?: string) => {
    const call = { name: 'approve', arguments: { tool_name: 'Bash', input: { command: 'rm -rf dist' }, tool_use_id: id } }
    const { text } = await rpc('tools/call', call, session)
    return JSON.parse(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result.content[0].text)
  }
  const approveTooLate = async (id: string, session?: string) => {
    const asked = prompt(id, session)
    const card = await waiting(desk.server)
    for (let isOver = false; !isOver; ) {
      clock.pass(60_000)
      isOver = await Promise.race([asked.then(() => true), desk.server.admin.get('/api/me').then(() => false)])
    }
    expect((await asked).behavior).toBe('deny')
    await decide(desk.server, card, { verdict: 'approve' })
    return card
  }
  const [shop, bank] = [await open(), await open()]
  for (const [session, other] of [
    [shop, bank],
    [undefined, undefined],
  ]) {
    const late = await approveTooLate(`toolu_a ${session}`, session)
    const asked = prompt(`toolu_b ${session}`, other)
    const card = await Promise.race([asked, waiting(desk.server)])
    expect(card).toMatchObject({ state: 'proposed', id: expect.not.stringMatching(late.id) })
    await decide(desk.server, card, { verdict: 'decline' })
    expect((await asked).behavior).toBe('deny')
    // The same session, or the very call.
    expect((await prompt(session ? 'toolu_c' : 'toolu_a undefined', session)).behavior).toBe('allow')
  }
})

test('people have the whole limit behind a proxy, too: while they are asked, a hook is never silent for long', async () => {
  const clock = manualClock(Date.now())
  const { server } = await startCodingDesk(undefined, clock)
  const { key } = await server.makeKey({ name: 'b', kind: 'agent', roles: ['agent'] })
  let isOver = false
  const asked = fetch(`${server.url}/hooks/claude?limit=86400`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ session_id: 's9', cwd: FOLDER, hook_event_name: 'PreToolUse', ...bash('npm run build') }),
  }).finally(() => {
    isOver = true
  })
  const card = await waiting(server)
  while (!isOver) {
    clock.pass(15_000)
    await server.admin.get('/api/me')
  }
  const answer = await asked
  await decide(server, card, { verdict: 'approve' })
  const text = await answer.text()
  // Claude Code takes an empty answer for a consent: one that breaks off must not look like it.
  expect(text).toMatch(/^\{ *"/)
  expect(decisionOf({ body: JSON.parse(text) } as ApiAnswer)).toBe('allow')
})

test.each([
  ['the folder of the session', FOLDER, FOLDER, {}],
  ['another folder', `${FOLDER}/web`, `${FOLDER}/web`, { cwd: `${FOLDER}/web` }],
  ['another folder, with a slash at its end', `${FOLDER}/web/`, `${FOLDER}/web`, { cwd: `${FOLDER}/web` }],
  ['the folder of the session, written longer', `${FOLDER}/./`, FOLDER, {}],
  ['another folder, by its relative name', 'web', `${FOLDER}/web`, { cwd: `${FOLDER}/web` }],
])('both hooks of Cursor about a command are one action, reported once: in %s', async (_, working_directory, cwd, options) => {
  const desk = await startCodingDesk()
  const send = (hook_event_name: string, more: object) => {
    const body = { conversation_id: 'c1', workspace_roots: [FOLDER], hook_event_name, ...more }
    return desk.agent.send('POST', '/hooks/cursor?limit=600', { body })
  }
  const used = { tool_name: 'Shell', tool_input: { command: 'npm install', working_directory }, tool_use_id: 'call_1', cwd: FOLDER }
  const asked = send('preToolUse', used)
  const card = await waiting(desk.server)
  expect(card.arguments).toMatchObject({ command: 'npm install', options })
  await decide(desk.server, card, { verdict: 'approve' })
  expect((await asked).body).toEqual({ permission: 'allow' })
  expect((await send('beforeShellExecution', { command: 'npm install', cwd, sandbox: false })).body).toEqual({ permission: 'allow' })
  await send('postToolUse', { ...used, tool_output: '{"exitCode":0,"stdout":"added 3 packages"}' })
  expect((await desk.server.admin.get('/api/actions')).items).toMatchObject([{ id: card.id, state: 'succeeded' }])
})

test('a host that drops its request withdraws the card', async () => {
  const desk = await startCodingDesk()
  const gone = new AbortController()
  const asked = fetch(`${desk.server.url}/hooks/claude`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${(await desk.server.makeKey({ name: 'b', kind: 'agent', roles: ['agent'] })).key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ session_id: 's9', cwd: FOLDER, hook_event_name: 'PermissionRequest', ...bash('npm run build') }),
    signal: gone.signal,
  })
  const card = await waiting(desk.server)
  const settled = desk.server.admin.get(`/api/actions/${card.id}?wait=60`)
  gone.abort()
  await expect(asked).rejects.toThrow()
  expect(await settled).toMatchObject({ state: 'cancelled', error: { message: expect.stringContaining('no longer waits') } })
})

test('a call is denied when the key of its hook is revoked while people are asked', async () => {
  const { server } = await startCodingDesk()
  const { key, id } = await server.makeKey({ name: 'other', kind: 'agent', agent: 'other' })
  const body = { session_id: 's1', cwd: FOLDER, hook_event_name: 'PreToolUse', ...bash('npm run deploy', 'toolu_1') }
  const asked = server.with({ authorization: `Bearer ${key}` }).send('POST', '/hooks/claude', { body })
  const card = await waiting(server)
  await server.admin.send('DELETE', `/api/keys/${id}`)
  const answer = await asked
  expect([decisionOf(answer), reasonOf(answer)]).toEqual(['deny', expect.stringContaining('your credential has ended')])
  await decide(server, card, { verdict: 'approve' })
  expect((await server.admin.get(`/api/actions/${card.id}`)).state).toBe('approved')
})

test('the end of a session closes what it leaves behind', async () => {
  const desk = await startCodingDesk()
  const asked = desk.hook('PreToolUse', bash('npm run build', 'toolu_8'))
  const card = await waiting(desk.server)
  await decide(desk.server, card, { verdict: 'approve' })
  await asked
  await desk.hook('SessionEnd', { reason: 'exit' })
  expect(await desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'outcome_unknown' })
})

test('a report of a failure is a failed action with the words of the host', async () => {
  const desk = await startCodingDesk({ rules: [{ name: 'all', match: { tool: 'host.shell' }, verdict: 'allow' }] })
  expect(decisionOf(await desk.hook('PreToolUse', bash('npm test', 'toolu_9')))).toBe('allow')
  await desk.hook('PostToolUseFailure', { ...bash('npm test', 'toolu_9'), error: 'exit code 1' })
  const { items } = await desk.server.admin.get('/api/actions')
  expect(items).toMatchObject([{ state: 'failed', error: { message: 'Claude Code reports a failure: exit code 1' } }])
})

test('no answer of a hook is empty or an error for a caller with a key, and nothing that fails is allowed', async () => {
  const server = await startTestServer({ config: { policy: { rules: [] } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const agent = await server.as({ name: 'a', kind: 'agent', roles: ['agent'] })
  const base = { session_id: 's1', cwd: FOLDER, hook_event_name: 'PreToolUse' }
  const bodies = [bash('ls'), { tool_name: 'Bash' }, { tool_name: 'Bash', tool_input: 'ls' }, { tool_name: '__proto__', tool_input: {} }]
  for (const body of bodies) {
    const answer = await agent.send('POST', '/hooks/claude', { body: { ...base, ...body } })
    expect(answer.status).toBe(200)
    expect(decisionOf(answer)).toBe('deny')
    expect(reasonOf(answer)).toContain('no tools for coding agents')
  }
  const { key } = await server.makeKey({ name: 'reads', kind: 'person', roles: ['viewer'] })
  const limited = server.with({ authorization: `Bearer ${key}` })
  expect(decisionOf(await limited.send('POST', '/hooks/claude', { body: { ...base, ...bash('ls') } }))).toBe('deny')
  expect((await agent.send('POST', '/hooks/claude', { body: {} })).status).toBe(400)
  expect((await server.with({}).send('POST', '/hooks/claude', { body: { ...base, ...bash('ls') } })).status).toBe(401)
  const canary = await agent.send('POST', '/hooks/claude', { body: { ...base, tool_name: 'countersign_canary', tool_input: {} } })
  expect(decisionOf(canary)).toBe('deny')
  expect((await server.admin.get('/api/actions')).items).toEqual([])
})

// On Postgres the time is the database's, which nobody sets forward.
test.skipIf(inject('database') === 'postgres')(
  'an allowed call without a report is unknown after one hour, and a report that comes later still counts',
  async () => {
    const clock = manualClock(Date.now())
    const desk = await startCodingDesk({ rules: [{ name: 'all', match: { tool: 'host.shell' }, verdict: 'allow' }] }, clock)
    await desk.hook('PreToolUse', bash('npm test', 'toolu_10'))
    const one = async (): Promise<Action> => (await desk.server.admin.get('/api/actions')).items[0]
    clock.pass(59 * 60_000)
    await expect
      .poll(async () => {
        // The server looks in turn with the test: a wait that it begins after a step of the clock ends with the next one.
        clock.pass(10_000)
        return await one()
      })
      .toMatchObject({ state: 'outcome_unknown' })
    const { startedAt, updatedAt } = await one()
    const tookMinutes = (Date.parse(updatedAt) - Date.parse(startedAt ?? '')) / 60_000
    expect(tookMinutes).toBeGreaterThanOrEqual(60)
    expect(tookMinutes).toBeLessThan(62)
    await desk.hook('PostToolUse', { ...bash('npm test', 'toolu_10'), tool_response: { stdout: 'ok' } })
    expect(await one()).toMatchObject({ state: 'succeeded' })
  },
)
