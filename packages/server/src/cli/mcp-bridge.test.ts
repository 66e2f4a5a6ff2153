import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { openBridge } from './mcp-bridge.ts'

const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

/** Starts a server that answers each request for its stream of notices with the next status. */
async function startServer(statuses: readonly number[]) {
  const streams: ServerResponse[] = []
  let asked = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (request.method === 'GET') {
      const status = statuses[asked++] ?? 200
      if (status !== 200) return void response.writeHead(status).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 1\n\n')
      return void streams.push(response)
    }
    const { id } = JSON.parse(body)
    if (id === undefined) return void response.writeHead(202).end()
    const serverInfo = { name: 'countersign', version: '1' }
    const result = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), streams, asked: () => asked }
}

test('after any number of failures the stream of notices is opened again, and the client is told to list the tools', async () => {
  const { url, streams, asked } = await startServer([200, ...Array.from({ length: 8 }, () => 503), 200])
  const [client, end] = InMemoryTransport.createLinkedPair()
  const bridge = await openBridge({ url, key: 'cs_key', complain: () => {} }, { client: end, firstReturnMs: 1 })
  onTestFinished(() => bridge.close())
  const heard: JSONRPCMessage[] = []
  client.onmessage = (message) => void heard.push(message)
  await client.start()
  const clientInfo = { name: 'client', version: '1' }
  await client.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await expect.poll(() => heard).toHaveLength(1)
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await expect.poll(() => streams).toHaveLength(1)
  // A client that has just connected lists the tools by itself.
  streams[0]?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message' })}\n\n`)
  await expect.poll(() => heard).toHaveLength(2)
  streams[0]?.destroy()
  await expect.poll(() => heard).toContainEqual(CHANGED)
  expect(asked()).toBe(10)
  expect(heard).toHaveLength(3)
})
