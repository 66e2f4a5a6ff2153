import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface Part {
  sku: string
  name: string
  stock: number
  reorderAt: number
}

/** The service of `inventory.yaml`, with a few parts in memory. */
export interface Inventory extends AsyncDisposable {
  url: string
  parts: Map<string, Part>
  /** The write requests in order of arrival: method and path, without the key. */
  changes: string[]
}

/** Starts it on a port of this machine; 0 is any. */
export async function startInventory({ port, key }: { port: number; key: string }): Promise<Inventory> {
  const parts = new Map(
    [
      { sku: 'BOLT-8', name: 'Bolt M8', stock: 12, reorderAt: 50 },
      { sku: 'NUT-8', name: 'Nut M8', stock: 480, reorderAt: 100 },
      { sku: 'GEAR-3', name: 'Gear, 3 teeth', stock: 2, reorderAt: 5 },
    ].map((part) => [part.sku, part]),
  )
  const changes: string[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.searchParams.get('key') !== key) return answer(response, 401, { message: 'The key is not right' })
    const body =
      request.method === 'GET' || request.method === 'DELETE' ? {} : ((await json(request)) as Partial<Part> & { words?: string })
    const all = [...parts.values()]
    if (request.method === 'POST' && url.pathname === '/parts/search') {
      const words = (body.words ?? '').toLowerCase()
      return answer(
        response,
        200,
        all.filter(({ name }) => name.toLowerCase().includes(words)),
      )
    }
    if (url.pathname === '/parts') {
      const below = Number(url.searchParams.get('below') ?? Number.POSITIVE_INFINITY)
      return answer(
        response,
        200,
        all.filter(({ stock }) => stock < below),
      )
    }
    const part = parts.get(url.pathname.slice('/parts/'.length))
    if (!part) return answer(response, 404, { message: 'There is no such part' })
    const etag = `"${Buffer.from(JSON.stringify(part)).toString('base64url')}"`
    const wanted = request.headers['if-match']
    if (wanted !== undefined && wanted !== etag) return answer(response, 412, { message: 'The part has changed' })
    if (request.method === 'GET') return answer(response, 200, part, { etag })
    changes.push(`${request.method} ${url.pathname}`)
    if (request.method === 'DELETE') {
      parts.delete(part.sku)
      return answer(response, 204, undefined)
    }
    Object.assign(part, body)
    return answer(response, 200, part)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    parts,
    changes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
