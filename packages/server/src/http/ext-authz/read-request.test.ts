import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { readHeldRequest } from './read-request.ts'

interface Sent {
  method?: string
  url?: string
  type?: string
  body?: string
}

function read({ method = 'POST', url = '/pay', type = 'application/json', body = '' }: Sent) {
  const headers = { host: 'pay.example', 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  const request = { method, originalUrl: `/ext-authz${url}`, headers, raw: { headersDistinct }, body: Buffer.from(body) }
  return readHeldRequest(request as unknown as FastifyRequest).args.body
}

test('JSON with two names in one object that differ in case only stays a text, so no rule reads one of the two', () => {
  const bodies = [
    '{"amount":1,"Amount":1000000}',
    '{"amount":1,"AMOUNT":2,"x":3}',
    '{"order":{"lines":[{"sku":"a"},{"sku":"a","\u017fku":"b"}]}}',
    '[{"key":1,"\u212aey":2}]',
  ]
  for (const body of bodies) {
    expect(read({ body }), body).toBe(body)
    expect(read({ body, type: 'application/merge-patch+json' }), body).toBe(body)
  }
  const apart = { a: { x: 1 }, b: { X: 1 }, list: [{ x: 1 }, { X: 2 }], user_id: 1, userId: 2 }
  expect(read({ body: JSON.stringify(apart) })).toEqual(apart)
})

test('a POST that a framework takes for another method does not pass, wherever the method stands', () => {
  const form = 'application/x-www-form-urlencoded'
  const multipart = 'multipart/form-data; boundary=x'
  const part = (name: string) => `--x\r\nContent-Disposition: form-data; ${name}\r\n\r\nDELETE\r\n--x--\r\n`
  const hidden: Sent[] = [
    { url: '/orders/7?_method=DELETE' },
    { url: '/orders/7?x=1&%5Fmethod=DELETE' },
    { url: '/orders/7?.method=DELETE' },
    { type: form, body: '_method=delete' },
    { type: `${form}; charset=utf-8`, body: 'a=1&%5fmethod=delete' },
    { type: 'Application/X-WWW-Form-Urlencoded', body: 'a=1;_method=delete' },
    { type: form, body: '_METHOD' },
    { type: multipart, body: part('name="_method"') },
    { type: multipart, body: part('name=_method') },
    { type: multipart, body: part('NAME = "\\_method"') },
    { type: multipart, body: part("name*=utf-8''%5Fmethod") },
    { type: multipart, body: part('name=\r\n "_method"') },
    { body: '{"_method":"DELETE"}' },
    { body: '{"_method":"DELETE","_method":"DELETE"}' },
    { type: 'application/vnd.api+json', body: '{"a":1,"A":2,"_method":"DELETE"}' },
  ]
  for (const sent of hidden) {
    const words = 'Not allowed: the parameter _method could make it another request. Nothing was passed on.'
    expect(() => read(sent), JSON.stringify(sent)).toThrow(words)
  }
  const plain: Sent[] = [
    { url: '/orders/7?note_method=x' },
    { type: form, body: 'note_method=x&method=_method' },
    { type: multipart, body: part('name="note_method"') },
    { type: 'text/plain', body: '_method=delete' },
    { body: '{"note":{"_method":"DELETE"}}' },
    // Only a POST is taken for another method.
    { method: 'PUT', type: form, body: '_method=delete' },
  ]
  for (const sent of plain) expect(() => read(sent), JSON.stringify(sent)).not.toThrow()
})
