import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { clientReference, rowsOf } from '../scripts/docs/clients.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const [[, ...cases] = [], ...clients] = rowsOf(clientReference(ROOT))
const named = rowsOf(read('verification/clients.md')).slice(1)

/** Their real programs are driven by tests that `npm run test:agents` alone runs. */
const CODING_AGENTS = /^(?:Claude Code|Claude Agent SDK|Codex|Gemini CLI|GitHub Copilot CLI|opencode|ACP agent) /

test('each client of the table has each of the eight cases, tested once; only coding agents have unknown ones', () => {
  expect(cases).toHaveLength(8)
  expect(clients.length).toBeGreaterThan(7)
  const cells = clients.flatMap(([client = '', ...answers]) => answers.map((answer, at) => ({ client, of: cases[at], answer })))
  expect(cells.filter(({ answer, client }) => answer !== 'yes' && !CODING_AGENTS.test(client))).toEqual([])
  const tested = cells.filter(({ answer }) => answer === 'yes')
  expect(named.map(([client, of]) => `${client}: ${of}`)).toEqual(tested.map(({ client, of }) => `${client}: ${of}`))
})

test('every test that the table of clients names is there', () => {
  for (const [client = '', of, file = '', name = ''] of named) {
    const text = read(file.replaceAll('`', ''))
    // A test of every framework is written once, with %s for its name; the frameworks are keys of one of two tables.
    const [framework = '', ...rest] = name.split(': ')
    const isThere = text.includes(name) || (text.includes(`%s: ${rest.join(': ')}`) && isFramework(framework))
    expect(isThere, `${client}, ${of}: ${file} has no test "${name}"`).toBe(true)
  }
})

const isFramework = (name: string): boolean =>
  ['gate-frameworks', 'parked-runs'].some((file) =>
    new RegExp(`^  (?:async )?'?${name}'?[(:]`, 'm').test(read(`verification/testing/${file}.ts`)),
  )

test('the versions of the table of clients are those that the tests use', () => {
  const packages: Record<string, string> = {
    'AI SDK': 'node_modules/ai',
    '`@ai-sdk/react`': 'node_modules/@ai-sdk/react',
    'OpenAI Agents JS': 'node_modules/@openai/agents-core',
    'LangChain JS': 'node_modules/langchain',
    'LangGraph JS': 'node_modules/@langchain/langgraph',
    '`@modelcontextprotocol/sdk`': 'node_modules/@modelcontextprotocol/sdk',
    '`@modelcontextprotocol/client`': 'node_modules/@modelcontextprotocol/client',
  }
  const counterparts: Record<string, string> = {
    'AG-UI': '@ag-ui/client',
    Mastra: '@mastra/core',
    eve: 'eve',
    CopilotKit: '@copilotkit/react-core',
    'assistant-ui': '@assistant-ui/react',
    'Claude Code': '@anthropic-ai/claude-code',
    'Claude Agent SDK': '@anthropic-ai/claude-agent-sdk',
    Codex: '@openai/codex',
    'Gemini CLI': '@google/gemini-cli',
    'GitHub Copilot CLI': '@github/copilot',
    opencode: 'opencode-ai',
    '`claude-agent-acp`': '@agentclientprotocol/claude-agent-acp',
  }
  const of = (folder: string) => JSON.parse(read(`${folder}/package.json`)).dependencies
  const folders = ['examples/copilotkit/app', 'examples/assistant-ui/app', 'scripts/counterparts', 'scripts/coding-agents']
  const dependencies = Object.assign({}, ...folders.map(of))
  const versions = clients.flatMap(([client = '']) =>
    [...client.matchAll(/([@`/\w -]+?) (\d+\.\d+\.\d+)/g)].map(([, what = '', version]) => ({ what, version })),
  )
  for (const { what, version } of versions) {
    const [known] = Object.entries(packages).filter(([name]) => what.endsWith(name))
    const [tried] = Object.entries(counterparts).filter(([name]) => what.endsWith(name))
    const installed = known ? JSON.parse(read(`${known[1]}/package.json`)).version : dependencies[tried?.[1] ?? '']
    expect({ what, version }).toEqual({ what, version: installed })
  }
  expect(versions.length).toBeGreaterThan(5)
})
