import { execFileSync } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, mediaOf } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { mcpStarter } from '../../packages/tools-mcp/src/starter.ts'
import { counterpart } from '../testing/counterparts.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { providerEnvironment } from '../testing/providers.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const node = (path: string, ...args: string[]) => ({ mcp: { command: process.execPath, args: [counterpart(path), ...args] } })
const playwright = async () =>
  node(
    '@playwright/mcp/cli.js',
    ...['--headless', '--isolated', '--no-sandbox', '--executable-path', process.env.COUNTERSIGN_CHROMIUM ?? '/usr/bin/chromium'],
    ...['--output-dir', await mkdtemp(join(tmpdir(), 'mcp-browser-'))],
    // By itself it gives a screenshot five seconds, which a busy machine takes.
    ...['--timeout-action', '240000', '--timeout-navigation', '240000'],
  )
const EVERYTHING = node('@modelcontextprotocol/server-everything/dist/index.js', 'stdio')

/** Starts a page for the browser to look at. */
async function startPage(): Promise<string> {
  const server = createServer((_, response) => void response.setHeader('content-type', 'text/html').end('<h1>Orders of today</h1>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

test('a screenshot of a real browser, taken through Playwright’s MCP server behind the gate, is a picture in the model’s next request', async () => {
  const url = await startPage()
  await using providers = await startReplayServer()
  const api = 'openai-responses'
  const { baseUrl, requests } = providers.play([
    speak(api, { calls: [{ id: 'call_1', name: 'web_browser_navigate', argumentsText: JSON.stringify({ url }) }] }),
    speak(api, { calls: [{ id: 'call_2', name: 'web_browser_take_screenshot', argumentsText: '{"type":"png","scale":"css"}' }] }),
    speak(api, { text: 'I see the orders of today.' }),
  ])
  await using server = await startTestServer({
    environment: { ...process.env, ...providerEnvironment(baseUrl) },
    config: {
      agents: { desk: { model: 'openai/m', tools: ['web.*'] } },
      tools: { web: { mcp: { ...(await playwright()).mcp, tools: { browser_take_screenshot: { effect: 'read' } } } } },
      policy: { rules: mcpStarter('web') },
    },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'What is on the page?' } })
  const { proposal } = await stream.next('action_proposed')
  expect(proposal).toMatchObject({ tool: 'web.browser_navigate', destination: 'program:@playwright/mcp', state: 'proposed' })
  expect(proposal.description).toContain(`url ${JSON.stringify(url)}`)
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.ended()

  const { items } = await server.admin.get('/api/actions')
  const shot: Action = items.find(({ tool }: Action) => tool === 'web.browser_take_screenshot')
  const [media] = mediaOf(shot.result)
  expect(media).toMatchObject({ type: 'image', mimeType: 'image/png' })
  const bytes = Buffer.from(media?.data ?? '', 'base64')
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  expect(bytes.readUInt32BE(16), 'its width').toBeGreaterThan(200)

  expect(requests).toHaveLength(3)
  const { input } = (requests[2]?.body ?? {}) as { input: { type: string; call_id: string; output: unknown[] }[] }
  const outputs = input.filter(({ type }) => type === 'function_call_output')
  expect(outputs.at(-1)?.output).toContainEqual({ type: 'input_image', image_url: `data:image/png;base64,${media?.data}` })
  expect(JSON.stringify(requests[2]?.body).split(media?.data ?? '')).toHaveLength(2)
})

test.each(MCP_CLIENTS)(
  '$client ($speaks) is given pictures and embedded resources of a server behind the gate as that server sent them',
  async ({ connect }) => {
    await using server = await startTestServer({
      environment: process.env,
      config: { tools: { all: EVERYTHING }, policy: { rules: mcpStarter('all') } },
    })
    const { key } = await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
    await using client = await connect({ url: `${server.url}/mcp`, key })
    const picture = await client.call('all_get-tiny-image', {})
    expect(picture.content).toContainEqual({ type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) })
    expect(picture.content[0]).toMatchObject({ type: 'text' })
    const reference = await client.call('all_get-resource-reference', { resourceType: 'Text', resourceId: 1 })
    expect(reference.content).toContainEqual({
      type: 'resource',
      resource: { uri: expect.stringContaining('://'), mimeType: 'text/plain', text: expect.any(String) },
    })
    const blob = await client.call('all_get-resource-reference', { resourceType: 'Blob', resourceId: 1 })
    expect(blob.content).toContainEqual({
      type: 'resource',
      resource: { uri: expect.stringContaining('://'), mimeType: expect.any(String), blob: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) },
    })
    const structured = await client.call('all_get-structured-content', { location: 'Chicago' })
    expect(structured.structuredContent).toMatchObject({ temperature: expect.anything() })
  },
)

test('five popular servers side by side behind the gate: each is looked at at once, and changes something when a person says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-five-'))
  await writeFile(join(folder, 'a.txt'), 'one')
  execFileSync('git', ['init', '-q', folder])
  const url = await startPage()
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: {
        files: node('@modelcontextprotocol/server-filesystem/dist/index.js', folder),
        memory: { mcp: { ...node('@modelcontextprotocol/server-memory/dist/index.js').mcp, env: { MEMORY_FILE_PATH: join(folder, 'm') } } },
        all: EVERYTHING,
        git: node('@cyanheads/git-mcp-server/dist/index.js'),
        web: await playwright(),
      },
      policy: { rules: ['files', 'memory', 'all', 'git', 'web'].flatMap((group) => mcpStarter(group) ?? []) },
    },
  })
  const path = join(folder, 'a.txt')
  const reads: [string, object][] = [
    ['files.read_text_file', { path }],
    ['memory.read_graph', {}],
    ['all.echo', { message: 'hello' }],
    ['git.git_status', { path: folder }],
  ]
  for (const [tool, args] of reads) {
    const { id } = await server.admin.post('/api/actions', { tool, arguments: args })
    await server.settle()
    expect(await server.admin.get(`/api/actions/${id}`), tool).toMatchObject({ state: 'succeeded', policy: { verdict: 'allow' } })
  }
  const writes: [string, object, string, string][] = [
    ['files.write_file', { path, content: 'two' }, '@modelcontextprotocol/server-filesystem', 'medium'],
    ['memory.delete_entities', { entityNames: ['Ana'] }, '@modelcontextprotocol/server-memory', 'high'],
    ['all.toggle-simulated-logging', {}, '@modelcontextprotocol/server-everything', 'medium'],
    ['git.git_add', { path: folder, paths: ['a.txt'] }, '@cyanheads/git-mcp-server', 'medium'],
    ['web.browser_navigate', { url }, '@playwright/mcp', 'high'],
    ['web.browser_close', {}, '@playwright/mcp', 'high'],
  ]
  for (const [tool, args, runs, level] of writes) {
    const asked: Action = await server.admin.post('/api/actions', { tool, arguments: args })
    expect(asked, tool).toMatchObject({ state: 'proposed', destination: `program:${runs}`, risk: { level } })
    expect(asked.description, tool).not.toMatch(/with \d+ arguments?$/)
    expect(await approve(server, asked), tool).toMatchObject({ state: 'succeeded' })
  }
})
