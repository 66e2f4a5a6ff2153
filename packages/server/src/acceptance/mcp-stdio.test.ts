import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const [oldest, , newest] = MCP_CLIENTS

test.each([oldest, newest])(
  'countersign mcp: $client ($speaks) starts it, calls a tool, and gets the result of what a person approved',
  async ({ connect, speaks }) => {
    using folder = temporaryFolder()
    await using target = await startTarget(() => ({ status: 200, body: { id: 7 } }))
    const config = join(folder.path, 'countersign.json')
    writeFileSync(config, JSON.stringify({ tools: toolsOf(target), gateway: { waitSeconds: 0 } }))
    const told = Promise.withResolvers<string>()
    let stderr = ''
    await using client = await connect({
      args: ['mcp', '--config', config, '--data', join(folder.path, 'data'), '--port', '0'],
      environment: { COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY },
      stderr(chunk) {
        stderr += chunk
        const url = /calls at (http:\S+)/.exec(stderr)?.[1]
        if (url) told.resolve(url)
      },
    })
    expect(client.protocolVersion()).toBe(speaks)
    const url = await told.promise
    expect(await client.call('look', { what: 'a' })).toMatchObject({ structuredContent: { id: 7 } })
    const asked = await client.call('keyed', { what: 'a' })
    const { actionId, url: card } = asked.structuredContent as { actionId: string; url: string }
    expect(card).toBe(`${url}/actions/${actionId}`)
    const response = await fetch(`${url}/api/actions/${actionId}/decision`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ verdict: 'approve' }),
    })
    expect(response.status).toBe(200)
    expect(await client.call('countersign_wait', { actionId, seconds: 50 })).toMatchObject({ structuredContent: { id: 7 } })
    expect(target.writes).toHaveLength(1)
  },
)

test('countersign mcp --server passes everything on to a running server, and says so when it is gone', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 7 } }))
  const server = await startTestServer({ config: { tools: toolsOf(target), gateway: { waitSeconds: 0 } } })
  const { key, principal } = await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  await using client = await newest.connect({
    args: ['mcp', '--server', server.url],
    environment: { COUNTERSIGN_KEY: key },
    stderr: () => undefined,
  })
  const asked = await client.call('keyed', { what: 'a' })
  const { actionId } = asked.structuredContent as { actionId: string }
  expect(await server.admin.get(`/api/actions/${actionId}`)).toMatchObject({ state: 'proposed', requestedBy: { id: principal.id } })
  await server[Symbol.asyncDispose]()
  await expect(client.call('look', { what: 'a' })).rejects.toThrow(/did not answer/)
})

test('countersign mcp says in words what it needs, and nothing on standard output', async () => {
  using folder = temporaryFolder()
  const noKey = await runCommandLine(['mcp', '--server', 'http://127.0.0.1:1'])
  expect(noKey).toMatchObject({ code: 1, stdout: '' })
  expect(noKey.stderr).toContain('COUNTERSIGN_KEY')
  const noFile = await runCommandLine(['mcp', '--config', join(folder.path, 'none.yaml'), '--data', folder.path, '--port', '0'])
  expect(noFile).toMatchObject({ code: 1, stdout: '' })
  expect(noFile.stderr).toContain('none.yaml')
})
