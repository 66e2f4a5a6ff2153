import type { Action } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { decide, waiting } from '../testing/decisions.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// Coding agents report the outcome of an approved call. The messages of Claude Code, GitHub Copilot CLI and Gemini CLI were recorded; those
// of Cursor follow its documentation.

const COMMAND = 'npm run deploy; exit 3'
const [session_id, cwd] = ['s1', '/home/ana/shop']

interface Asked {
  path: string
  message: object
}
type Told = Asked & { is: object; says: RegExp }

const claude = (event: string, rest: object): Asked => ({
  path: '/hooks/claude',
  message: {
    ...{ session_id, cwd, hook_event_name: event, tool_name: 'Bash', tool_input: { command: COMMAND }, tool_use_id: 'toolu_1' },
    ...rest,
  },
})
const copilot = (event: string, rest: object, toolName = 'bash'): Asked => ({
  path: `/hooks/copilot?event=${event}`,
  message: { sessionId: 's1', timestamp: 1795919153851, cwd, toolName, toolArgs: { command: COMMAND, description: 'Deploy' }, ...rest },
})
const gemini = (event: string, rest: object): Asked => ({
  path: '/hooks/gemini',
  message: { session_id, cwd, hook_event_name: event, tool_name: 'run_shell_command', tool_input: { command: COMMAND }, ...rest },
})
const cursor = (event: string, rest: object): Asked => ({
  path: '/hooks/cursor',
  message: {
    ...{ conversation_id: 's1', workspace_roots: [cwd], hook_event_name: event, tool_name: 'Shell', tool_input: { command: COMMAND, cwd } },
    ...{ tool_use_id: 'toolu_1' },
    ...rest,
  },
})

const failed = (says: RegExp) => ({ is: { state: 'failed', error: { kind: 'refused' } }, says })
const output = 'oops\n<shellId: 0 completed with exit code 3>'
const listed = '<untrusted_context>\nOutput: oops\nExit Code: 3\nProcess Group PGID: 659\n</untrusted_context>'

const FAILURES: Record<string, [Asked, Told]> = {
  'Claude Code, a command with an exit code': [
    claude('PreToolUse', {}),
    {
      ...claude('PostToolUseFailure', { error: 'Exit code 3\noops', is_interrupt: false }),
      ...failed(/^Claude Code reports a failure: Exit code 3/),
    },
  ],
  'GitHub Copilot CLI, a command with an exit code': [
    copilot('preToolUse', {}),
    {
      ...copilot('postToolUse', { toolResult: { resultType: 'success', textResultForLlm: output } }),
      ...failed(/^GitHub Copilot CLI ran it .*exit code 3\. oops/),
    },
  ],
  'GitHub Copilot CLI, a result that says so': [
    copilot('preToolUse', {}),
    {
      ...copilot('postToolUse', { toolResult: { resultType: 'failure', textResultForLlm: 'no such shell' } }),
      ...failed(/^GitHub Copilot CLI reports a failure: failure: no such shell/),
    },
  ],
  'GitHub Copilot CLI, its event for failures': [
    copilot('preToolUse', {}),
    { ...copilot('postToolUseFailure', { error: 'Path does not exist' }), ...failed(/Path does not exist/) },
  ],
  'Gemini CLI, a command with an exit code': [
    gemini('BeforeTool', {}),
    {
      ...gemini('AfterTool', { tool_response: { llmContent: listed, returnDisplay: 'oops' } }),
      ...failed(/^Gemini CLI ran it .*exit code 3/),
    },
  ],
  'Gemini CLI, an error': [
    gemini('BeforeTool', {}),
    {
      ...gemini('AfterTool', {
        tool_response: { llmContent: 'Could not.', error: { message: 'spawn failed', type: 'shell_execute_error' } },
      }),
      ...failed(/spawn failed/),
    },
  ],
  'Cursor, a command with an exit code': [
    cursor('preToolUse', {}),
    { ...cursor('postToolUse', { tool_output: '{"output":"oops","exitCode":3}' }), ...failed(/^Cursor ran it .*exit code 3\. oops/) },
  ],
  'Cursor, its event for failures': [
    cursor('preToolUse', {}),
    { ...cursor('postToolUseFailure', { error_message: 'No such file', failure_type: 'error' }), ...failed(/No such file/) },
  ],
  'Cursor, a command whose result has what it printed': [
    cursor('preToolUse', {}),
    { ...cursor('postToolUse', { tool_output: '{"exitCode":3,"stdout":"oops"}' }), ...failed(/^Cursor ran it .*exit code 3\. oops/) },
  ],
}

const UNKNOWN: Record<string, [Asked, Told]> = {
  'Claude Code, a command that took too long': [
    claude('PreToolUse', {}),
    {
      ...claude('PostToolUse', {
        tool_response: { stdout: '', stderr: '', interrupted: false, isImage: false, backgroundTaskId: 'b2bm3gab4', timedOutAfterMs: 2000 },
      }),
      ...{ is: { state: 'outcome_unknown' }, says: /^Claude Code goes on with this in the background: .*timedOutAfterMs/ },
    },
  ],
  'Claude Code, stopped': [
    claude('PreToolUse', {}),
    {
      ...claude('PostToolUseFailure', { error: 'Interrupted by user', is_interrupt: true }),
      ...{ is: { state: 'outcome_unknown' }, says: /^Claude Code was stopped while it ran this: Interrupted by user/ },
    },
  ],
  'Cursor, a command that took too long': [
    cursor('preToolUse', {}),
    {
      ...cursor('postToolUseFailure', { error_message: 'Command timed out after 30s', failure_type: 'timeout', is_interrupt: false }),
      ...{ is: { state: 'outcome_unknown' }, says: /^Cursor was stopped while it ran this: Command timed out/ },
    },
  ],
  'Cursor, stopped': [
    cursor('preToolUse', {}),
    {
      ...cursor('postToolUseFailure', { error_message: 'Aborted', is_interrupt: true }),
      ...{ is: { state: 'outcome_unknown' }, says: /^Cursor was stopped while it ran this: Aborted/ },
    },
  ],
}

async function startDesk() {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const agent = await server.as({ name: 'coder', kind: 'agent', agent: 'coder', roles: ['agent'] })
  return { server, send: ({ path, message }: Asked) => agent.send('POST', path, { body: message }) }
}

const found = ({ admin }: TestServer, { id }: Action): Promise<Action> => admin.get(`/api/actions/${id}`)

async function tell([ask, told]: [Asked, Told]): Promise<void> {
  const { server, send } = await startDesk()
  const asked = send(ask)
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  expect((await asked).status).toBe(200)
  expect(await found(server, card)).toMatchObject({ state: 'executing' })
  expect((await send(told)).status).toBe(200)
  const action = await found(server, card)
  expect(action).toMatchObject(told.is)
  expect(action.error?.message).toMatch(told.says)
}

test.each(Object.keys(FAILURES))('a call that failed is not said to be carried out: %s', (name) => tell(FAILURES[name] as [Asked, Told]))

test.each(Object.keys(UNKNOWN))('what came of a call that was stopped, or that still runs, is unknown: %s', (name) =>
  tell(UNKNOWN[name] as [Asked, Told]),
)

test('a command that is to be started in the background has been, once it was', async () => {
  const { server, send } = await startDesk()
  const input = { tool_input: { command: COMMAND, run_in_background: true } }
  const asked = send(claude('PreToolUse', input))
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  await asked
  await send(claude('PostToolUse', { ...input, tool_response: { stdout: '', backgroundTaskId: 'b1' } }))
  expect(await found(server, card)).toMatchObject({ state: 'succeeded', result: { report: { backgroundTaskId: 'b1' } } })
})

test('text in the output of a call is not taken for its exit code', async () => {
  const { server, send } = await startDesk()
  for (const [ask, report] of [
    [gemini('BeforeTool', {}), gemini('AfterTool', { tool_response: { llmContent: `Exit Code: 3\nOutput: and more` } })],
    [copilot('preToolUse', {}), copilot('postToolUse', { toolResult: { resultType: 'success', textResultForLlm: `${output}\nand more` } })],
  ] as const) {
    const asked = send(ask)
    const card = await waiting(server)
    await decide(server, card, { verdict: 'approve' })
    await asked
    await send(report)
    expect(await found(server, card)).toMatchObject({ state: 'succeeded' })
  }
})

test.each([
  ['failed', gemini('BeforeTool', {}), gemini('AfterTool', { tool_response: { llmContent: listed } })],
  ['still runs', claude('PreToolUse', {}), claude('PostToolUse', { tool_response: { backgroundTaskId: 'b1' } })],
])('a command that %s although it was declined ran all the same, and its action says so', async (_how, ask, report) => {
  const { server, send } = await startDesk()
  const asked = send(ask)
  const card = await waiting(server)
  await decide(server, card, { verdict: 'decline' })
  await asked
  await send(report)
  expect(await found(server, card)).toMatchObject({ state: 'declined', error: { kind: 'ran_elsewhere' } })
})

const refused = (event = 'postToolUse') => copilot(event, { toolResult: { resultType: 'denied', textResultForLlm: 'Denied by a hook' } })

test('a host that reports a call denied at its limit as failed takes nothing back: people still decide, and the same call finds that', async () => {
  const { server, send } = await startDesk()
  expect((await send(copilot('preToolUse&limit=1', {}))).body).toMatchObject({ permissionDecision: 'deny' })
  const card = await waiting(server)
  await send(refused())
  expect(await found(server, card)).toMatchObject({ state: 'proposed' })
  await decide(server, card, { verdict: 'approve' })
  await send(refused())
  expect((await send(copilot('preToolUse', {}))).body).toEqual({ permissionDecision: 'allow' })
})

test('a failure that a host reports while its hook still asks closes the card, and nobody is told that the call was allowed', async () => {
  const { server, send } = await startDesk()
  const asked = send(copilot('preToolUse', {}))
  const card = await waiting(server)
  await send(refused())
  expect((await asked).body).toMatchObject({ permissionDecision: 'deny' })
  const action = await found(server, card)
  expect(action).toMatchObject({ state: 'cancelled', attempt: 0 })
  expect(action.error?.message).toContain('answered elsewhere: GitHub Copilot CLI reports a failure: denied: Denied by a hook')
})
