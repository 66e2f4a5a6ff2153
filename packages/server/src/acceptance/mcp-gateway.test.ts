import { expect, test } from 'vitest'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** A server whose calls answer at once that they wait, unless a test says how long they are to be held. */
const startGateway = (target: Target, waitSeconds = 0): Promise<TestServer> =>
  startTestServer({
    config: {
      tools: toolsOf(target),
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'never once', match: { tool: 'unkeyed' }, verdict: 'deny' },
        ],
      },
      gateway: { waitSeconds },
    },
  })

const answering = () => startTarget(({ path }) => ({ status: 200, body: { id: 7, path } }))

/** A key of an agent. */
async function agentKey(server: TestServer, name = 'bot'): Promise<string> {
  return (await server.admin.post('/api/keys', { name, kind: 'agent' })).key
}

test.each(MCP_CLIENTS)(
  '$client ($speaks): what policy allows runs, what it denies does not, what it asks waits for a person',
  async ({ connect, speaks }) => {
    await using target = await answering()
    await using server = await startGateway(target)
    await using client = await connect({ url: `${server.url}/mcp`, key: await agentKey(server) })
    expect(client.protocolVersion()).toBe(speaks)

    const tools = await client.tools()
    expect(tools.map(({ name }) => name)).toEqual(['countersign_wait', 'keyed', 'unkeyed', 'look'])
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, false, false, true])

    const read = await client.call('look', { what: 'a' })
    expect(read).toMatchObject({
      structuredContent: { id: 7, path: '/look/a' },
      content: [{ type: 'text', text: '{"id":7,"path":"/look/a"}' }],
    })
    expect(read.isError).toBeUndefined()

    const denied = await client.call('unkeyed', { what: 'a' })
    expect(denied).toMatchObject({ isError: true, structuredContent: { status: 'denied' } })
    expect(JSON.stringify(denied.content)).toContain('never once')

    const asked = await client.call('keyed', { what: 'a' })
    expect(asked.isError).toBeUndefined()
    const { actionId, url } = asked.structuredContent as { actionId: string; url: string }
    expect(asked.structuredContent).toMatchObject({ status: 'waiting_for_approval', description: 'Do a' })
    expect(url).toBe(`${server.url}/actions/${actionId}`)
    expect(JSON.stringify(asked.content)).toContain(`Waiting for approval ${actionId}`)
    expect(target.writes).toEqual([])

    await server.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
    await server.settle()
    const result = await client.call('keyed', { what: 'a' })
    expect(result).toMatchObject({ structuredContent: { id: 7, path: '/keyed' } })
    expect(JSON.stringify(result.content)).toContain('carried out once')
    expect(target.writes).toHaveLength(1)
  },
)
