import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { counterpart } from '../testing/counterparts.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

/** Returns a tool with a name that the suite calls. */
const fixture = (name: string, execute: () => string, more: object = {}) =>
  defineTool({
    name,
    description: 'Of the suite.',
    effect: 'read',
    input: JSON.parse(JSON.stringify({ type: 'object', ...more })),
    execute,
  })

const TOOLS = [
  fixture('test_simple_text', () => 'This is a simple text response for testing.'),
  fixture('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  }),
  fixture('test_tool_with_progress', () => 'done'),
  fixture('json_schema_2020_12_tool', () => 'ok', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  }),
]

/** Starts a proxy for the suite, which cannot send keys: it adds a key and changes nothing else, not even Host. */
async function startKeyholder(url: string, key: string) {
  const { hostname, port } = new URL(url)
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` }
    const onward = request({ hostname, port, path: incoming.url, method: incoming.method, headers, setHost: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * The scenarios that apply to a gateway for tools. The others do not apply: tools-call-image, -audio, -embedded-resource and -mixed-content
 * and tools-call-with-progress call tools of the suite's own (`mcp-media.more.test.ts` and `result.test.ts` check the same); logging is
 * deprecated in 2026-07-28; sampling and elicitation by tools, completion, resources and prompts are not offered.
 */
const HELD = [
  ...['server-initialize', 'ping', 'tools-list', 'tools-call-simple-text', 'tools-call-error', 'json-schema-2020-12'],
  ...['server-sse-polling', 'server-sse-multiple-streams', 'dns-rebinding-protection'],
]

test('the public conformance suite: what is about tools and the way in is held, and nothing else is claimed', async () => {
  await using server = await startTestServer({ config: { tools: { suite: { prefix: false, tools: TOOLS } } } })
  const { key } = await server.admin.post('/api/keys', { name: 'suite', kind: 'agent' })
  await using keyholder = await startKeyholder(server.url, key)
  using folder = temporaryFolder()
  const program = counterpart('@modelcontextprotocol/conformance/dist/index.js')
  const suite = spawn(process.execPath, [program, 'server', '--url', `${keyholder.url}/mcp`, '--suite', 'all', '-o', folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await text(suite.stdout)
  const results = [...said.slice(said.indexOf('=== SUMMARY ===')).matchAll(/^([✓✗]) ([\w-]+): /gm)]
  expect(results).toHaveLength(32)
  expect(results.flatMap(([, mark, scenario]) => (mark === '✓' ? [scenario] : [])).sort()).toEqual([...HELD].sort())
})
