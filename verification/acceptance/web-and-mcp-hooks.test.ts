import { expect, onTestFinished, test } from 'vitest'
import { codingAgentStarter } from '../../packages/server/src/coding-agent/index.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { startTestServer } from '../testing/test-server.ts'

const FOLDER = '/home/ana/shop'

async function start(policy: object = { rules: codingAgentStarter('host') }) {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const agent = await server.as({ name: 'ana laptop', kind: 'agent', roles: ['agent'] })
  return { server, send: (path: string, body: object) => agent.send('POST', `/hooks/${path}`, { body }) }
}

const claude = (tool_name: string, tool_input: object) => ({
  path: 'claude',
  body: { session_id: 's1', cwd: FOLDER, hook_event_name: 'PreToolUse', tool_name, tool_input },
})
const codex = (tool_name: string, tool_input: object) => ({ ...claude(tool_name, tool_input), path: 'codex' })
const gemini = (tool_name: string, tool_input: object, more: object = {}) => ({
  path: 'gemini',
  body: { session_id: 's1', cwd: FOLDER, hook_event_name: 'BeforeTool', tool_name, tool_input, ...more },
})
const copilot = (toolName: string, toolArgs: object) => ({
  path: 'copilot?event=preToolUse',
  body: { sessionId: 's1', cwd: FOLDER, toolName, toolArgs: JSON.stringify(toolArgs) },
})
const cursor = (hook_event_name: string, tool_name: string, tool_input: object) => ({
  path: 'cursor',
  body: { conversation_id: 's1', workspace_roots: [FOLDER], hook_event_name, tool_name, tool_input: JSON.stringify(tool_input) },
})
const opencode = (tool: string, input: object) => ({
  path: 'opencode',
  body: { event: 'ask', session: 's1', cwd: FOLDER, callId: 'c1', tool, input },
})
const acp = (kind: string, rawInput: object) => ({
  path: 'acp',
  body: { event: 'ask', session: 's1', cwd: FOLDER, toolCall: { toolCallId: 'c1', kind, rawInput } },
})

const URL_INPUT = { url: 'https://docs.example.com/a' }
const FETCHED = { tool: 'host.fetch', arguments: { url: URL_INPUT.url, address: { host: 'docs.example.com' } } }
const SEARCHED = { tool: 'host.search', arguments: { query: 'cel' } }
const called = (server: string, name = 'create_issue') => ({ tool: 'host.mcp', arguments: { server, name, input: { title: 'x' } } })
const TITLE = { title: 'x' }
const CONTEXT = { mcp_context: { server_name: 'tracker', tool_name: 'create_issue' } }

test.each([
  ['Claude Code fetches', claude('WebFetch', { ...URL_INPUT, prompt: 'What?' }), FETCHED],
  ['Claude Code searches', claude('WebSearch', { query: 'cel' }), SEARCHED],
  ['Claude Code calls an MCP tool', claude('mcp__tracker__create_issue', TITLE), called('tracker')],
  ['Codex calls an MCP tool', codex('mcp__tracker__create_issue', TITLE), called('tracker')],
  ['Copilot fetches', copilot('web_fetch', URL_INPUT), FETCHED],
  ['Copilot searches', copilot('web_search', { query: 'cel' }), SEARCHED],
  ['Copilot calls an MCP tool, whose name names no server for certain', copilot('tracker-create_issue', TITLE), { tool: 'host.other' }],
  ['Gemini fetches one address', gemini('web_fetch', { prompt: URL_INPUT.url }), FETCHED],
  [
    'Gemini fetches what its prompt names',
    gemini('web_fetch', { prompt: 'Compare https://a.example/ and http://169.254.169.254/' }),
    { tool: 'host.fetch', risk: { level: 'high' }, arguments: { address: { understood: false, host: '' } } },
  ],
  ['Gemini searches', gemini('google_web_search', { query: 'cel' }), SEARCHED],
  ['Gemini calls an MCP tool', gemini('mcp_tracker_create_issue', TITLE, CONTEXT), called('tracker')],
  ['a tool of an MCP server is called like one of Gemini', gemini('read_file', TITLE, CONTEXT), called('tracker')],
  ['Cursor is about to call an MCP tool', cursor('beforeMCPExecution', 'create_issue', TITLE), called('cursor')],
  ['Cursor uses an MCP tool', cursor('preToolUse', 'MCP:create_issue', TITLE), called('cursor')],
  ['opencode fetches', opencode('webfetch', { ...URL_INPUT, format: 'text' }), FETCHED],
  ['opencode searches', opencode('websearch', { query: 'cel' }), SEARCHED],
  ['opencode calls an MCP tool, whose name names no server for certain', opencode('tracker_create_issue', TITLE), { tool: 'host.other' }],
  ['an agent of an editor fetches', acp('fetch', URL_INPUT), FETCHED],
])('%s, and the card is that of its kind', async (_, { path, body }, expected) => {
  const { server, send } = await start()
  const answer = send(path, body)
  const card = await waiting(server)
  expect(card).toMatchObject(expected)
  await decide(server, card, { verdict: 'decline', reason: 'Not now' })
  expect((await answer).text).toContain('Not now')
})

test('a changed address goes back to the program in its own words', async () => {
  const { server, send } = await start()
  const { path, body } = claude('WebFetch', { ...URL_INPUT, prompt: 'What?' })
  const answer = send(path, body)
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve', arguments: { ...card.arguments, url: 'https://docs.example.com/b' } })
  expect((await answer).body.hookSpecificOutput).toMatchObject({
    permissionDecision: 'allow',
    updatedInput: { url: 'https://docs.example.com/b', prompt: 'What?' },
  })
})

test('the starting policy denies where cloud machines give out credentials, and asks about every other request and MCP tool', async () => {
  const { server, send } = await start({
    rules: [...codingAgentStarter('host'), { name: 'all else runs', match: { tool: 'host.*' }, verdict: 'allow' }],
  })
  const denied = await send('claude', claude('WebFetch', { url: 'http://169.254.169.254/latest/meta-data/', prompt: 'x' }).body)
  expect(denied.body.hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringContaining('Cloud machines give out credentials at this address.'),
  })
  expect((await server.admin.get('/api/actions?state=proposed')).items).toEqual([])
  for (const { path, body } of [
    claude('WebFetch', URL_INPUT),
    claude('WebSearch', { query: 'x' }),
    claude('mcp__tracker__get_issue', {}),
  ]) {
    const answer = send(path, body)
    const card = await waiting(server)
    await decide(server, card, { verdict: 'decline' })
    expect((await answer).body.hookSpecificOutput.permissionDecision).toBe('deny')
  }
})

test('rules match the host and the path of a request, and the server and the tool of a call', async () => {
  const rules = [
    {
      name: 'our documentation is read',
      match: {
        tool: 'host.fetch',
        when: 'args.address.host == "docs.example.com" && args.address.path.startsWith("/api/") && args.address.risks.size() == 0',
      },
      verdict: 'allow',
    },
    {
      name: 'issues are read',
      match: { tool: 'host.mcp', when: 'args.server == "tracker" && args.name == "get_issue"' },
      verdict: 'allow',
    },
  ]
  const { send } = await start({ default: 'deny', rules })
  const decisions: [string, string][] = []
  for (const { path, body } of [
    claude('WebFetch', { url: 'https://docs.example.com/api/a', prompt: 'x' }),
    claude('WebFetch', { url: 'https://docs.example.com/api/../b', prompt: 'x' }),
    claude('WebFetch', { url: 'https://docs.example.com\\@evil.example/api/', prompt: 'x' }),
    claude('WebFetch', { url: 'https://docs.example.com@evil.example/api/', prompt: 'x' }),
    claude('WebFetch', { url: 'https://docs.example.com/api/?token=x', prompt: 'x' }),
    claude('mcp__tracker__get_issue', {}),
    claude('mcp__tracker__get__issue', {}),
    claude('mcp__x__tracker__get_issue', {}),
  ]) {
    const { body: answer } = await send(path, body)
    decisions.push([String((body.tool_input as { url?: string }).url ?? body.tool_name), answer.hookSpecificOutput.permissionDecision])
  }
  expect(decisions).toEqual([
    ['https://docs.example.com/api/a', 'allow'],
    ['https://docs.example.com/api/../b', 'deny'],
    ['https://docs.example.com\\@evil.example/api/', 'deny'],
    ['https://docs.example.com@evil.example/api/', 'deny'],
    ['https://docs.example.com/api/?token=x', 'deny'],
    ['mcp__tracker__get_issue', 'allow'],
    ['mcp__tracker__get__issue', 'deny'],
    ['mcp__x__tracker__get_issue', 'deny'],
  ])
})
