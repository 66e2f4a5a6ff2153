import { type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { context, failureOf, startShop } from '../testing/shop.ts'

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())
const { answers, lastSeen, open, seen } = shop

const HOSTILE: JsonValue[] = [
  '',
  ' ',
  '\t',
  '\u00a0',
  '.',
  '..',
  '...',
  ' ..',
  '.. ',
  '..;',
  '..;x=1',
  '.;a',
  '/',
  '//',
  'a/b',
  '/etc',
  '../x',
  '..\\x',
  'a\\b',
  '\\',
  '\\\\host',
  '%2e',
  '%2E%2e',
  '.%2e',
  '%2e.',
  '%252e%252e',
  '%25252e%25252e',
  '%2525252525252e',
  '%2f',
  'a%2fb',
  'a%2Fb',
  'a%252fb',
  'a%25252fb',
  '%5c',
  'a%5Cb',
  '%255c',
  '%u002e%u002e',
  '%u002f',
  'a%u2215/b',
  '%c0%ae%c0%ae',
  '%c0%af',
  '%e0%80%af',
  '%ff',
  '%00',
  'a%00b',
  'a%0d%0aX: y',
  '%250a',
  '%09',
  'a\0b',
  'a\r\nHost: evil',
  'a\nb',
  'a\u007fb',
  'a\u0085b',
  'a\u2028b',
  'a\u200bb',
  '\u202eabc',
  '\ufeffx',
  'a\u00adb',
  '\u{e0041}x',
  '\ud800',
  'a\udc00',
  '．．',
  '．',
  '／',
  'a／b',
  '＼',
  '%ef%bc%8f',
  '%ef%bc%8e%ef%bc%8e',
  '℀',
  '…',
  '‥',
  'x'.repeat(1_001),
  null,
  ['a'],
  { a: 1 },
  [],
  '.\u200b.',
  '%2e%2e%2f',
  '%2e%2e;',
]

test('a hostile value never reaches a path: refused when proposed, refused again when sent', async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(60)
  const input: JsonObject = { type: 'object', required: ['orderId'], properties: { orderId: {} } }
  const tool = open({ getOrder: { method: 'GET', path: '/api/orders/{orderId}', input } })('getOrder')
  const before = seen.length
  for (const orderId of HOSTILE) {
    const checked = tool.check({ orderId })
    expect(checked, JSON.stringify(orderId)).toMatchObject({
      ok: false,
      issues: [{ path: '/orderId', message: expect.stringMatching(/^orderId must /) }],
    })
    expect(await failureOf(tool.execute({ orderId }, context())), JSON.stringify(orderId)).toMatchObject({ kind: 'broken' })
  }
  expect(seen.length).toBe(before)
})

test('an honest value arrives as one segment, exactly as it was', async () => {
  answers(200, {})
  const tool = open({
    getOrder: {
      method: 'GET',
      path: '/api/orders/{orderId}/x',
      input: { type: 'object', required: ['orderId'], properties: { orderId: {} } },
    },
  })('getOrder')
  const values: JsonValue[] = [
    'ORD-1',
    'a b',
    'ä€',
    '100%',
    'a?b',
    'a#b',
    'a&b=c',
    'a;b',
    'a:b@c',
    "o'clock",
    'v1.2',
    '.git',
    'a..b',
    '日本',
    42,
    1e21,
    -0.5,
    true,
    '"<>',
    '{x}',
    '[1]',
    '^|`',
    '+',
    '%zz',
    '👍',
  ]
  for (const orderId of values) {
    expect(tool.check({ orderId }), String(orderId)).toMatchObject({ ok: true })
    await tool.execute({ orderId }, context())
    const segments = lastSeen().url.split('/')
    expect(segments.length).toBe(5)
    expect(decodeURIComponent(segments[3] ?? '')).toBe(String(orderId))
  }
})

test('whatever the value, the path stays in its template', async () => {
  const { buildUrl, pathValueFault, readPathTemplate } = await import('../http/url-template.ts')
  const template = readPathTemplate('/api/orders/{id}/lines/line-{line}')
  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '%2e',
    '%2f',
    '%25',
    '%5c',
    '%',
    ';',
    '?',
    '#',
    ' ',
    'a',
    '0',
    '\n',
    '\u200b',
    '．',
    '／',
    '@',
    ':',
    'é',
    '%c0',
    '&',
  )
  const value = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  for (const base of [new URL('https://api.example.com'), new URL('https://api.example.com/v2/')]) {
    const prefix = base.pathname.replace(/\/$/, '')
    fc.assert(
      fc.property(value, value, (id, line) => {
        const fault = pathValueFault(id) ?? pathValueFault(line)
        if (fault !== undefined) {
          expect(() => buildUrl(base, template, { id, line })).toThrow(ToolError)
          return
        }
        const url = buildUrl(base, template, { id, line })
        expect(url.href).toBe(
          `https://api.example.com${prefix}/api/orders/${encodeURIComponent(id)}/lines/line-${encodeURIComponent(line)}`,
        )
        // Also for a service that decodes twice over and normalises.
        for (let text = id, n = 0; n < 6; n++) {
          expect(text).not.toMatch(/[/\\\u0000-\u001f]|^\.+$/)
          text = text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).normalize('NFKC')
        }
      }),
      { numRuns: 1_500 },
    )
  }
})
