// A server made with the SDK, whose tool pays, that is, adds a line to the file of its first argument, and then throws what real requests
// throw. The SDK answers with the exception as a result with `isError`.
import { appendFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const [ledger = ''] = process.argv.slice(2)
// A service that answers nothing, and breaks the connection of a request to /cut.
const service = createServer(({ url }, response) => void (url === '/cut' && response.destroy())).unref()
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`

const throwsAs = {
  late: () => fetch(url, { signal: AbortSignal.timeout(20) }),
  cut: () => fetch(`${url}/cut`),
  'hung up': () => new Promise((_, reject) => request(`${url}/cut`).on('error', reject).end()),
  refused: async () => {
    throw new Error('order 7 is shipped already')
  },
}

const server = new McpServer({ name: 'bank', version: '1' })
const inputSchema = z.object({ how: z.enum(['late', 'cut', 'hung up', 'refused']) })
server.registerTool('pay', { description: 'Pays', inputSchema }, async ({ how }) => {
  appendFileSync(ledger, `${how}\n`)
  await throwsAs[how]()
  return { content: [{ type: 'text', text: 'paid' }] }
})
await server.connect(new StdioServerTransport())
