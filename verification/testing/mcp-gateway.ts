import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ToolSource } from '../../packages/toolkit/src/source.ts'
import type { TestServer } from './test-server.ts'

/** Returns an agent's key. */
export async function agentKey(server: TestServer, name = 'bot'): Promise<string> {
  return (await server.admin.post('/api/keys', { name, kind: 'agent' })).key
}

/** Connects a client of 2026-07-28 that can open links for a person. `open` decides what happens there. */
export async function linkClient(url: string, key: string, open: (link: string) => Promise<'accept' | 'decline' | 'cancel'>) {
  const client = new Client(
    { name: 'link-client', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
  )
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: await open('url' in params ? String(params.url) : '') }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }))
  return client
}

/** Creates a source whose tools change when a test says so. */
export function changingSource() {
  let names = ['first']
  let onToolsChanged = (): unknown => undefined
  const source: ToolSource = {
    kind: 'test',
    secrets: [],
    drafts: () => names.map(draftOf),
    onChange(given) {
      onToolsChanged = given
    },
    check: async () => [],
  }
  return {
    source,
    become(...next: string[]) {
      names = next
      onToolsChanged()
    },
  }
}

const draftOf = (name: string): ReturnType<ToolSource['drafts']>[number] => ({
  name,
  description: name,
  effect: 'read',
  inputSchema: { type: 'object' },
  executor: 'server',
  idempotent: true,
  timeoutMs: 1_000,
  destination: 'local',
  credential: 'none',
  definition: null,
  check: (value) => ({ ok: true, value }),
  describe: () => name,
  execute: async () => name,
})
