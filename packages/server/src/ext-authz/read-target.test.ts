import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTarget } from './read-target.ts'

/** Pieces of known attacks on gateways, and harmless ones. */
const PIECES =
  'a|orders|7|/|/|//|.|..|/./|/../|;|..;|\\|%2e|%2E%2e|%2f|%2F|%5c|%252e|%252f|%25|%3b|%61|%41|%7e|%20|%3F|%23|%22|%C3%A9|%E2%82%AC|%F0%9F%98%80|%c3|%c0%ae|%00|%0a|%7f|%zz|%|é| |#|+|:|@|*|,|!|$|(|)'
    .split('|')
    .concat('|')
const pathOf = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`)
const QUERY_PIECES = [...PIECES, '=', '=', '&', '&', '?', '[]', "'", 'x=1', '&x=2', '__proto__']
const queryOf = fc.array(fc.constantFrom(...QUERY_PIECES), { maxLength: 8 }).map((pieces) => `?${pieces.join('')}`)
/** Without its first slash too, and with any character. */
const anyTarget = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(pathOf, fc.option(queryOf, { nil: '' })).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }).map((text) => `/${text}`) },
  { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
)

/** As nginx finds the location of a request: decodes each byte once, then leaves out empty segments and resolves those of dots. */
function asNginx(url: string): string {
  const [raw = ''] = url.split(/[?#]/)
  const bytes = Buffer.from(raw).toString('latin1')
  const decoded = bytes.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const segments: string[] = []
  const parts = decoded.split('/').slice(1)
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1
    if (part === '..') segments.pop()
    if (part !== '..' && part !== '.' && part !== '') segments.push(part)
    else if (isLast) segments.push('')
  }
  return Buffer.from(`/${segments.join('/')}`, 'latin1').toString('utf8')
}

/** As servers on Java's servlets: each segment ends at its `;` before it is decoded, and a backslash is a slash. */
const asServlet = (url: string): string =>
  asNginx(
    url
      .replace(/[?#].*$/s, '')
      .replaceAll(/;[^/]*/g, '')
      .replaceAll(/%5c|\\/gi, '/'),
  )

/** As a proxy in front of another one: what it has decoded is decoded again. */
const decodedTwice = (path: string): string => asNginx(path.replaceAll('?', '%3F').replaceAll('#', '%23'))

/** As a browser or a client with a URL parser. */
const asUrl = (url: string): URL => new URL(`http://pay.example${url}`)

test('whatever target is accepted, a URL parser, nginx, a servlet and a second proxy find the path that the card shows', () => {
  let accepted = 0
  fc.assert(
    fc.property(anyTarget, (url) => {
      const reading = readTarget(url)
      if ('refused' in reading) return
      accepted += 1
      const { path } = reading.target
      expect(decodeURIComponent(asUrl(url).pathname)).toBe(path)
      expect(asUrl(url).host).toBe('pay.example')
      expect(asNginx(url)).toBe(path)
      expect(asServlet(url)).toBe(path)
      expect(decodedTwice(path)).toBe(path)
    }),
    { numRuns: 20_000 },
  )
  // Not because all are refused.
  expect(accepted).toBeGreaterThan(500)
})

test('whatever target is accepted, the parameters of the card are those that a plain reading at & and = finds', () => {
  let withParameters = 0
  fc.assert(
    fc.property(fc.tuple(fc.constantFrom('/', '/orders'), queryOf), ([path, query]) => {
      const reading = readTarget(path + query)
      if ('refused' in reading) return
      const { parameters } = reading.target
      const plain: [string, string][] = query
        .slice(1)
        .split('&')
        .filter((pair) => pair !== '')
        .map((pair) => {
          const [name = '', ...value] = pair.split('=')
          return [decoded(name), decoded(value.join('='))]
        })
      if (plain.length > 0) withParameters += 1
      const shown = Object.entries(parameters).flatMap(([name, values]) => values.map((value) => [name, value]))
      expect(shown.map(String).sort()).toEqual(plain.map(String).sort())
      for (const [name, values] of Object.entries(parameters)) expect(asUrl(path + query).searchParams.getAll(name)).toEqual(values)
    }),
    { numRuns: 10_000 },
  )
  expect(withParameters).toBeGreaterThan(500)
})

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

test('a query with two names that some servers read as one is refused', () => {
  const both = ['user_id=1&user.id=2', 'role=a&Role=b', 'role=a&role[]=b', 'role=a&%20role=b', 'a%5Bx=1&a_x=2', 'role%00x=1&role=2']
  for (const query of both)
    expect(readTarget(`/x?${query}`), query).toEqual({ refused: expect.stringMatching(/^servers may read the parameters .+ as one$/) })
  const parameters = { 'filter[a]': ['1'], 'filter[b]': ['2'], 'x[]': ['1', '2'], userId: ['3'], user_id: ['4'] }
  expect(readTarget('/x?filter[a]=1&filter[b]=2&x[]=1&x[]=2&userId=3&user_id=4')).toEqual({ target: { path: '/x', parameters } })
})
