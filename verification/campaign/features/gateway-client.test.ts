import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { MCP_CLIENTS } from '../../testing/mcp-clients.ts'

test.each(MCP_CLIENTS)(
  '$client ($speaks) waits for its own limit when the server dies after the headers of its first answer',
  async ({ connect }) => {
    const dying = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      setImmediate(() => response.destroy())
    })
    dying.listen(0, '127.0.0.1')
    await once(dying, 'listening')
    try {
      const url = `http://127.0.0.1:${(dying.address() as AddressInfo).port}/mcp`
      await expect(connect({ url, key: 'key', timeoutMs: 500 })).rejects.toThrow(/timed out/)
    } finally {
      dying.close()
    }
  },
)
