import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { outgoingFetch } from './fetch.ts'
import { openNetwork } from './network.ts'

/** Listens where nobody may be led to, and counts who comes. */
async function listen(
  host: string,
  onRequest: (request: IncomingMessage) => { status: number; location?: string } = () => ({ status: 200 }),
) {
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    seen.push(request.url ?? '')
    const { status, location } = onRequest(request)
    response.writeHead(status, location === undefined ? {} : { location }).end('canary')
  })
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, seen, connections: () => connections }
}

const INSIDE_4 = [
  '127.0.0.1',
  '127.0.0.2',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '198.18.0.1',
]
const INSIDE_6 = ['::1', '::', 'fd00::1', 'fe80::1', 'ff02::1', 'fec0::1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::', '100::1']

/** The ways in which people have written a version 4 address to get past a check. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (n: number) => `0x${n.toString(16)}`
  const octal = (n: number) => `0${n.toString(8)}`
  const wide = (text: string) => [...text].map((char) => (/\d/.test(char) ? String.fromCodePoint(0xff10 + Number(char)) : char)).join('')
  const high = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  return [
    address,
    `${address}.`,
    `${whole}`,
    hex(whole),
    octal(whole),
    [a, b, c, d].map(hex).join('.'),
    [a, b, c, d].map(octal).join('.'),
    `${hex(a)}.${b}.${octal(c)}.${d}`,
    `${a}.${(b << 16) | (c << 8) | d}`,
    `${a}.${b}.${(c << 8) | d}`,
    wide(address),
    address.replaceAll('.', '。'),
    address.replaceAll('.', '%2e'),
    `%${a.toString().charCodeAt(0).toString(16)}${address.slice(1)}`,
    `[::ffff:${address}]`,
    `[::ffff:${high}]`,
    `[0:0:0:0:0:ffff:${high}]`,
    `[::${high}]`,
    `[64:ff9b::${high}]`,
    `[64:ff9b:1::${high}]`,
    `[2002:${high}::]`,
    `[::ffff:0:${high}]`,
  ]
}

/** Names that lead inside, at once or only when they are asked again. */
const NAMES: Record<string, string[]> = Object.fromEntries(
  [...INSIDE_4, ...INSIDE_6].map((address, index) => [`inside${index}.example`, [address]]),
)
const NAME_SHAPES = (name: string) => [name, name.toUpperCase(), `${name}.`, name.replace('e', 'ｅ'), name.replaceAll('.', '。')]

const FRAMES = (host: string, port: number): string[] => [
  ...['http:', 'https:'].flatMap((scheme) => [
    `${scheme}//${host}:${port}/latest/meta-data`,
    `${scheme}//public.example@${host}:${port}/`,
    `${scheme}//${host}:${port}#@public.example/`,
    `${scheme}/\\${host}:${port}/`,
    ` ${scheme}//${host}:${port}/\t`,
  ]),
  ...['ws:', 'ftp:', 'gopher:', 'file:', 'data:', 'javascript:'].map((scheme) => `${scheme}//${host}:${port}/`),
]

test('of thousands of addresses made to lead inside, not one reaches a canary', async () => {
  const canaries = [await listen('127.0.0.1'), await listen('::1')]
  const network = openNetwork({
    async resolve(name) {
      const inside = NAMES[name.toLowerCase().replace(/\.$/, '')] ?? (name === 'localhost' ? ['127.0.0.1', '::1'] : ['127.0.0.1'])
      return inside.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  })
  const send = outgoingFetch(network, 'https://public.example')
  const hosts = [
    ...INSIDE_4.flatMap(spellings),
    ...INSIDE_6.map((address) => `[${address}]`),
    ...Object.keys(NAMES).flatMap(NAME_SHAPES),
    'localhost',
    'LOCALHOST.',
    'ⓛocalhost',
    'xn--canary',
  ]
  const payloads = new Set(hosts.flatMap((host, index) => FRAMES(host, canaries[index % 2]?.port ?? 0)))
  expect(payloads.size).toBeGreaterThan(3_000)
  let answered = 0
  for (const payload of payloads) {
    await send(payload, { signal: AbortSignal.timeout(5_000) }).then(
      () => answered++,
      () => undefined,
    )
  }
  expect({ answered, connections: canaries.map((canary) => canary.connections()) }).toEqual({ answered: 0, connections: [0, 0] })
})

test('a canary is reached by the very address that is its caller’s own, so the count of none can fail', async () => {
  const canary = await listen('127.0.0.1')
  const own = `http://127.0.0.1:${canary.port}`
  const response = await outgoingFetch(openNetwork(), own)(`${own}/x?y=1`, { method: 'POST', body: 'hello' })
  expect([response.status, await response.text(), canary.seen]).toEqual([200, 'canary', ['/x?y=1']])
})

test('a name that answers differently the second time is connected to at the address that was checked', async () => {
  const canary = await listen('127.0.0.1')
  const other = await listen('::1')
  let asked = 0
  const network = openNetwork({
    allow: ['127.0.0.1'],
    resolve: async () => (asked++ === 0 ? [{ address: '127.0.0.1', family: 4 }] : [{ address: '::1', family: 6 }]),
  })
  const send = outgoingFetch(network, undefined)
  expect((await send(`http://turning.example:${canary.port}/`)).status).toBe(200)
  expect(asked).toBe(1)
  await expect(send(`http://turning.example:${other.port}/`)).rejects.toThrow('fetch failed')
  expect([canary.connections(), other.connections()]).toEqual([1, 0])
})

test('no redirect is followed, wherever it leads and whichever way it says so', async () => {
  const canary = await listen('127.0.0.1')
  for (const status of [301, 302, 303, 307, 308]) {
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
      const door = await listen('127.0.0.1', () => ({ status, location: `http://${host}:${canary.port}/` }))
      const own = `http://127.0.0.1:${door.port}`
      const response = await outgoingFetch(openNetwork({ allow: ['127.0.0.0/8'] }), own)(own, {
        headers: { authorization: 'Bearer planted' },
      })
      expect(response.status).toBe(status)
    }
  }
  expect(canary.connections()).toBe(0)
})

test('the body of every method arrives as the body of its request, and no further request is made of it', async () => {
  const seen: string[] = []
  await using server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    seen.push(`${request.method} ${text}`)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const body = 'GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n'
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    expect((await outgoingFetch(openNetwork(), own)(own, { method, body })).status).toBe(200)
  }
  expect(seen).toEqual(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => `${method} ${body}`))
})

test('an answer that is cut, an abort and a bad address read as they do with the global fetch', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half')
    response.socket?.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = outgoingFetch(openNetwork(), own)
  await expect((await send(own)).text()).rejects.toThrow(new TypeError('terminated'))
  const reason = new Error('enough')
  await expect(send(own, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  await expect(send('http://user:planted@127.0.0.1')).rejects.toThrow(new TypeError('fetch failed'))
  await expect(send('no address')).rejects.toThrow(TypeError)
})
