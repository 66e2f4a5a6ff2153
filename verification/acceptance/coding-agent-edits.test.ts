import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { bash, decisionOf, FOLDER, reasonOf, startCodingDesk } from '../testing/coding-desk.ts'
import { decide, waiting } from '../testing/decisions.ts'

test('a person changes the command, and the host gets the changed one', async () => {
  const desk = await startCodingDesk()
  const input = { command: 'npm publish', description: 'Publishes' }
  const asked = desk.hook('PreToolUse', { tool_name: 'Bash', tool_input: input, tool_use_id: 'toolu_2' })
  const card = await waiting(desk.server)
  await decide(desk.server, card, { verdict: 'approve', arguments: { ...card.arguments, command: 'npm publish --dry-run' } })
  const answer = await asked
  expect(answer.body.hookSpecificOutput).toMatchObject({
    permissionDecision: 'allow',
    updatedInput: { command: 'npm publish --dry-run', description: 'Publishes' },
  })
  await desk.hook('PostToolUse', { tool_name: 'Bash', tool_input: answer.body.hookSpecificOutput.updatedInput, tool_response: 'ok' })
  expect((await desk.server.admin.get(`/api/actions/${card.id}`)).state).toBe('succeeded')
})

test('Gemini CLI keeps what an edit takes out of a call, so it is told the input that was approved, and runs the call with that alone', async () => {
  const desk = await startCodingDesk()
  const send = (tool_input: object) => {
    const call = { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command', tool_input }
    return desk.agent.send('POST', '/hooks/gemini', { body: { session_id: 'g1', cwd: FOLDER, ...call } })
  }
  const approve = async (changes: object) => {
    const card = await waiting(desk.server)
    await decide(desk.server, card, { verdict: 'approve', arguments: { ...card.arguments, ...changes } })
  }
  const changed = send({ command: 'npm run migrate', is_background: true })
  await approve({ options: { is_background: false } })
  expect((await changed).body).toEqual({
    decision: 'allow',
    hookSpecificOutput: { tool_input: { command: 'npm run migrate', is_background: false } },
  })
  const asked = send({ command: 'npm run deploy', is_background: true, description: 'Deploys' })
  await approve({ options: { description: 'Deploys' } })
  const approved = { command: 'npm run deploy', description: 'Deploys' }
  const { body } = await asked
  expect(body).toEqual({ decision: 'deny', reason: expect.stringContaining('with exactly this input') })
  expect(JSON.parse(body.reason.slice(body.reason.indexOf('{')))).toEqual(approved)
  expect((await send(approved)).body).toEqual({ decision: 'allow' })
})

test('what the host decides by itself cannot be edited: such an edit is refused in words, and the call still waits', async () => {
  const desk = await startCodingDesk()
  const asked = [
    desk.hook('PreToolUse', bash('rm -rf build', 'toolu_1')),
    desk.hook('PreToolUse', { tool_name: 'mcp__prod__delete_row', tool_input: { id: 7 }, tool_use_id: 'toolu_2' }),
  ]
  await expect.poll(async () => (await desk.server.admin.get('/api/actions?state=proposed')).items).toHaveLength(2)
  const cards: Action[] = (await desk.server.admin.get('/api/actions?state=proposed')).items
  const tryEdit = ({ id, revision, digest, arguments: args }: Action, changes: object) =>
    desk.server.admin.send('POST', `/api/actions/${id}/decision`, {
      body: { verdict: 'approve', revision, digest, arguments: { ...args, ...changes } },
    })
  for (const [tool, field, value] of [
    ['host.shell', 'folder', '/srv/staging'],
    ['host.shell', 'host', 'gemini'],
    ['host.shell', 'hostTool', 'BashOutput'],
    ['host.shell', 'shell', { readOnly: true }],
    ['host.mcp', 'hostTool', 'mcp__staging__delete_row'],
    ['host.mcp', 'server', 'staging'],
    // A host that takes it would run the command elsewhere than the card says.
    ['host.shell', 'options', { dir_path: '/srv/staging' }],
  ] as const) {
    const card = cards.find((one) => one.tool === tool)
    if (!card) throw new Error(`there is no card of ${tool}`)
    const { status, body } = await tryEdit(card, { [field]: value })
    expect({ status, code: body.code, issues: body.issues }, field).toMatchObject({
      status: 422,
      code: 'invalid_arguments',
      issues: [{ path: `/${field}`, message: expect.stringContaining('cannot be edited') }],
    })
    // Beside a change that is possible as well.
    expect((await tryEdit(card, { [field]: value, command: 'rm -rf dist', input: { id: 8 } })).status, field).toBe(422)
    expect(await desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'proposed', revision: 1 })
  }
  for (const card of cards) await decide(desk.server, card, { verdict: 'decline' })
  expect((await Promise.all(asked)).map(decisionOf)).toEqual(['deny', 'deny'])
})

test('a host that cannot be given another command is told it, and the agent that makes it is not asked about again', async () => {
  const desk = await startCodingDesk()
  const send = (command: string) =>
    desk.agent.send('POST', '/hooks/copilot?event=preToolUse', {
      body: { sessionId: 'c1', cwd: FOLDER, toolName: 'bash', toolArgs: JSON.stringify({ command }) },
    })
  const asked = send('npm publish')
  const card = await waiting(desk.server)
  await decide(desk.server, card, { verdict: 'approve', arguments: { ...card.arguments, command: 'npm publish --dry-run' } })
  const { body } = await asked
  expect(body.permissionDecision).toBe('deny')
  expect(body.permissionDecisionReason).toContain('npm publish --dry-run')
  expect((await send('npm publish --dry-run')).body).toEqual({ permissionDecision: 'allow' })
})

test('what a person changed runs as they approved it: asked again, a host that takes no other command gets no permission for its own', async () => {
  const desk = await startCodingDesk()
  const codex = (event: string) => {
    const body = { session_id: 'x1', cwd: FOLDER, hook_event_name: event, ...bash('npm publish', 'call_1') }
    return desk.agent.send('POST', '/hooks/codex', { body })
  }
  const asked = codex('PreToolUse')
  const card = await waiting(desk.server)
  await decide(desk.server, card, { verdict: 'approve', arguments: { ...card.arguments, command: 'npm publish --dry-run' } })
  expect((await asked).body.hookSpecificOutput.updatedInput).toEqual({ command: 'npm publish --dry-run' })
  const prompt = await codex('PermissionRequest')
  expect(decisionOf(prompt)).toBe('deny')
  expect(reasonOf(prompt)).toContain('npm publish --dry-run')

  const agent = (toolCallId: string, command: string) =>
    desk.agent.send('POST', '/hooks/acp', {
      body: { event: 'ask', session: 'p1', cwd: FOLDER, toolCall: { toolCallId, kind: 'execute', rawInput: { command } } },
    })
  const first = agent('t1', 'npm publish')
  const shown = await waiting(desk.server)
  await decide(desk.server, shown, { verdict: 'approve', arguments: { ...shown.arguments, command: 'npm publish --dry-run' } })
  expect((await first).body).toMatchObject({ decision: 'deny' })
  expect((await agent('t2', 'npm publish --dry-run')).body).toMatchObject({ decision: 'allow' })
  expect((await agent('t1', 'npm publish')).body, 'the changed call runs').toMatchObject({ decision: 'deny' })
})

test('the permission at the editor does not count once a person has approved a changed call: only the changed one may run', async () => {
  const desk = await startCodingDesk()
  const say = (event: string, toolCallId: string, command: string, more: object = {}) =>
    desk.agent.send('POST', '/hooks/acp', {
      body: { event, session: 'p1', cwd: FOLDER, toolCall: { toolCallId, kind: 'execute', rawInput: { command } }, ...more },
    })
  const asked = say('ask', 't1', 'npm publish')
  const shown = await waiting(desk.server)
  await decide(desk.server, shown, { verdict: 'approve', arguments: { ...shown.arguments, command: 'npm publish --dry-run' } })
  const late = () => say('answered', 't1', 'npm publish', { allowed: true, said: '"Yes"' })
  expect((await late()).body).toEqual({ accepted: false, reports: false })
  expect((await asked).body).toMatchObject({ decision: 'deny' })
  expect((await say('ask', 't2', 'npm publish --dry-run')).body).toMatchObject({ decision: 'allow' })
  expect((await late()).body, 'the changed call runs').toEqual({ accepted: false, reports: false })
  expect(await desk.server.admin.get(`/api/actions/${shown.id}`)).toMatchObject({ state: 'executing' })
})
