import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openTools } from '../open-tools.ts'
import { readTemplate } from './template.ts'
import { buildUrl, readPathTemplate } from './url-template.ts'

const BASE = new URL('http://127.0.0.1:4400/api')
const TEMPLATES = ['/orders/{id}', '/orders/{id}/status', '/orders/a-{id}.json', '/{id}/{id}'].map(readPathTemplate)

const encode = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const upper = (text: string) => text.replace(/%[0-9a-f]{2}/g, (code) => code.toUpperCase())
const again = (text: string) => text.replaceAll('%', '%25')
const odd = (text: string) => [...text].map((char) => `%u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join('')
const wide = (text: string) =>
  [...text].map((char) => (/[!-~]/.test(char) ? String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfee0) : char)).join('')

/** What gets out of a segment somewhere, in the spellings that some server on the way takes for it. */
const ESCAPES = [
  '..',
  '.',
  '../',
  '..\\',
  '/..',
  '\\..',
  '/',
  '\\',
  '//',
  '///',
  '/../../',
  '..;/',
  ';/..',
  '.;/',
  '..%00/',
  './/',
  '/./',
  '....//',
  '..../',
  '?',
  '?admin=1',
  '#',
  '#x',
  '\0',
  '\r\n',
  '\r\nHost: evil',
  '\n',
  '\t',
  ' ',
  '%',
  '%%',
  '%2',
  '%zz',
  '@evil.example',
  '//evil.example/',
  'http://evil.example/',
  'https:evil.example',
  '\\\\evil.example',
  'file:///etc/passwd',
  '\u2024\u2024',
  '\u2025',
  '\uff0e\uff0e',
  '\u2215',
  '\u2044',
  '\uff0f',
  '\u29f8',
  '\u200b..',
  '..\u200d',
  '\u202e',
  '\ud800',
  '\ufeff..',
  '%c0%ae%c0%ae',
  '%c0%af',
  '%e0%80%ae',
  '%e0%80%af',
  '%f0%80%80%af',
  '%c1%9c',
  '%fc%80%80%80%80%ae',
  '%ff',
  '%80',
  '%ed%a0%80',
  '%00',
  '%0d%0a',
  '%252e',
  '%25252e',
  '%2525252e',
  '%u002e',
  '%u2216',
  '&#46;',
  '\\x2e',
  '\\u002e',
]
const FRAMES = [
  (x: string) => x,
  (x: string) => `a${x}`,
  (x: string) => `${x}b`,
  (x: string) => `${x}${x}`,
  (x: string) => `a${x}admin${x}b`,
  (x: string) => `${x}admin`,
]
const SPELLINGS = [
  (x: string) => x,
  encode,
  (x: string) => upper(encode(x)),
  (x: string) => again(encode(x)),
  (x: string) => again(again(encode(x))),
  odd,
  wide,
]

const payloads = [...new Set(ESCAPES.flatMap((way) => FRAMES.flatMap((frame) => SPELLINGS.map((spell) => frame(spell(way))))))]

/** The segments of a path as a server may take it: decoded so many times, with every separator there is. */
function segments(path: string, rounds: number): string[] {
  let text = path
  for (let round = 0; round < rounds; round++) {
    text = text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
  }
  return text.normalize('NFKC').split(/[/\\]/)
}

/** Why a path is not what its template says, also to whoever decodes it up to three times; undefined when it is. */
function escapeOf(path: string, template: string): string | undefined {
  const wanted = `/api${template}`.split('/')
  for (const rounds of [0, 1, 2, 3]) {
    const got = segments(path, rounds)
    if (got.length !== wanted.length) return `${got.length} segments after ${rounds} decodings`
    for (const [index, segment] of got.entries()) {
      const literal = wanted[index] ?? ''
      if (!literal.includes('{') && segment !== literal) return `${segment} where ${literal} stands`
      if (literal.includes('{') && /^\.*$|^\.+;|[\p{Cc}]/u.test(segment)) return `a segment that is ${JSON.stringify(segment)}`
    }
  }
  return /[?#\s]/.test(path) ? 'a query or a fragment' : undefined
}

test('of thousands of values made to leave a path, each is refused or stays in its segment, however often it is decoded', () => {
  expect(payloads.length).toBeGreaterThan(2_000)
  const escapes: string[] = []
  let stayed = 0
  for (const template of TEMPLATES) {
    for (const payload of payloads) {
      let url: URL
      try {
        url = buildUrl(BASE, template, { id: payload })
      } catch {
        continue
      }
      stayed++
      const way = url.origin === BASE.origin && url.hash === '' ? escapeOf(url.pathname + url.search, template.text) : 'another origin'
      if (way !== undefined) escapes.push(`${JSON.stringify(payload)} in ${template.text}: ${url.href}: ${way}`)
    }
  }
  expect(escapes).toEqual([])
  // Not everything is refused, or this would prove nothing.
  expect(stayed).toBeGreaterThan(100)
})

test('the check itself sees an escape', () => {
  for (const path of [
    '/api/orders/../admin',
    '/api/orders/%2e%2e',
    '/api/orders/%252e%252e',
    '/api/orders/a%2fb',
    '/api/orders/a%25255cb',
    '/api/orders/a?b',
    '/api/admin/a',
    '/api/orders/',
  ]) {
    expect(escapeOf(path, '/orders/{id}'), path).toBeDefined()
  }
  expect(escapeOf('/api/orders/ORD%20001', '/orders/{id}')).toBeUndefined()
  expect(readTemplate('/{id}').parts).toHaveLength(2)
})

test('what is sent is the path of the template, one line of query and no header of the caller’s making', async () => {
  const seen: { method: string; url: string; headers: string[] }[] = []
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: Object.keys(request.headers).sort() })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  const look = openTools({
    shop: {
      prefix: false,
      routes: { baseUrl, headers: {}, tools: { look: { method: 'GET', path: '/orders/{id}', query: { q: '{id}' } } } },
    },
  }).byName('look')
  const context = { actionId: 'act_1', idempotencyKey: 'key', signal: new AbortController().signal, principalId: undefined }
  let sent = 0
  for (const id of payloads.filter((_, index) => index % 7 === 0)) {
    if (!look?.check({ id }).ok) continue
    await look.execute({ id }, context)
    sent++
    const last = seen.at(-1)
    const [path = '', query = '', ...rest] = last?.url.split('?') ?? []
    expect([escapeOf(path, '/orders/{id}'), rest, new URLSearchParams(query).get('q'), [...new URLSearchParams(query).keys()]]).toEqual([
      undefined,
      [],
      id,
      ['q'],
    ])
    expect(last?.headers).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
  }
  expect(seen).toHaveLength(sent)
  expect(sent).toBeGreaterThan(10)
})
