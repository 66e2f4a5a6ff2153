import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { ToolSourceView } from '@countersign/core'
import { expect, test } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Stock', version: '1' },
  paths: { '/stock': { get: { operationId: 'readStock', responses: { 200: { description: 'The stock' } } } } },
}

test('GitHub, Linear and a service with an OpenAPI document are named as away from the first call that reaches nobody, and back without a call', async () => {
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  using folder = temporaryFolder()
  const document = join(folder.path, 'stock.json')
  await writeFile(document, JSON.stringify(DOCUMENT))
  await using server = await startTestServer({
    environment: { KEY: 'a-key-nobody-may-see' },
    config: {
      tools: {
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of the configuration
        code: { github: { token: '${KEY}', baseUrl } },
        plan: { linear: { apiKey: '${KEY}', baseUrl: `${baseUrl}/graphql` } },
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: variables of the configuration
        stock: { openapi: { document, baseUrl } },
      },
    },
  })
  const sources = async () =>
    Object.fromEntries((await server.admin.get('/api/sources')).items.map(({ group, away }: ToolSourceView) => [group, away]))
  expect(await sources()).toEqual({ code: null, plan: null, stock: null })
  for (const [tool, args] of [
    ['code.searchIssues', { query: 'price' }],
    ['plan.searchIssues', {}],
    ['stock.readStock', {}],
  ] as const) {
    const { id } = await server.admin.post('/api/actions', { tool, arguments: args })
    expect(await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({
      state: 'failed',
      error: { kind: 'unreachable' },
    })
  }
  const away = { since: expect.any(String), why: expect.stringContaining(`127.0.0.1:${port}`) }
  expect(await sources()).toEqual({ code: away, plan: away, stock: away })

  const service = createServer((_request, response) => response.setHeader('content-type', 'application/json').end('{"left":3}'))
  await once(service.listen(port, '127.0.0.1'), 'listening')
  await expect.poll(async () => (await sources()).stock).toBeNull()
  service.close()
})
