import { expect, test } from 'vitest'
import { openTools } from '../open-tools.ts'
import { RouteTable, type RouteTableInput } from './route-schema.ts'

function open(tools: RouteTableInput['tools'], more: Partial<RouteTableInput> = {}): void {
  openTools({ shop: { prefix: true, routes: RouteTable.parse({ baseUrl: 'http://127.0.0.1', tools, ...more }) } })
}

const BAD: [string, RouteTableInput['tools'][string], string][] = [
  [
    'a placeholder outside the input',
    { method: 'GET', path: '/a/{b}', input: { type: 'object', properties: {} } },
    'shop.routes.tools.t.path: names {b}, which is not a property of input',
  ],
  [
    'an optional path value',
    { method: 'GET', path: '/a/{b}', input: { type: 'object', properties: { b: {} } } },
    'shop.routes.tools.t.path: names {b}, which input does not require: a path cannot do without it',
  ],
  [
    'a property of a GET that goes nowhere',
    { method: 'GET', path: '/a', input: { type: 'object', properties: { b: {} } } },
    'shop.routes.tools.t.input.properties.b: is not sent anywhere: use {b} in path or query, or take it out',
  ],
  [
    'a property that a body template forgets',
    { method: 'POST', path: '/a', body: {}, input: { type: 'object', properties: { b: {} } } },
    'shop.routes.tools.t.input.properties.b: is not sent anywhere: use {b} in path, query or body, or take it out',
  ],
  [
    'an open input with a body template',
    { method: 'POST', path: '/a', body: {}, input: { type: 'object', additionalProperties: true } },
    'shop.routes.tools.t.input.additionalProperties: must be false: what the templates do not name would not be sent',
  ],
  ['a GET with a body', { method: 'GET', path: '/a', body: {} }, 'shop.routes.tools.t.body: cannot be sent with GET'],
  ['a path without a slash', { method: 'GET', path: 'a' }, 'shop.routes.tools.t.path: must start with one slash'],
  ['a path to another host', { method: 'GET', path: '//evil/a' }, 'shop.routes.tools.t.path: must start with one slash'],
  ['a dot segment', { method: 'GET', path: '/a/../b' }, 'shop.routes.tools.t.path: holds a dot segment or a badly encoded character'],
  [
    'an encoded dot segment',
    { method: 'GET', path: '/a/%2e%2e/b' },
    'shop.routes.tools.t.path: holds a dot segment or a badly encoded character',
  ],
  ['a query in the path', { method: 'GET', path: '/a?b=1' }, 'shop.routes.tools.t.path: must not hold a query: declare it under "query"'],
  [
    'a lone brace',
    { method: 'GET', path: '/a/{b' },
    'shop.routes.tools.t.path: has a lone "{": write {name} for a value, {{ and }} for braces',
  ],
  [
    'an unknown word in describe',
    { method: 'GET', path: '/a', describe: 'See {x}' },
    'shop.routes.tools.t.describe: names {x}, which is not a property of input',
  ],
  [
    'the answer in a body',
    { method: 'POST', path: '/a', body: { x: '{result.id}' } },
    'shop.routes.tools.t.body: cannot use {result.…}: there is no answer yet',
  ],
  [
    'what is read before, where nothing is',
    { method: 'POST', path: '/a', body: {}, describe: 'Add[ to {before.name}]' },
    'shop.routes.tools.t.describe: cannot use {before.…}: only describe can, where before says what is read',
  ],
  [
    'what is read before, in words that cannot do without it',
    { method: 'DELETE', path: '/a', before: { get: '/a' }, describe: 'Delete {before.name}' },
    'shop.routes.tools.t.describe: has {before.…} outside of [ ]: write [ of {before.name}], which vanishes where nothing was read',
  ],
  [
    'an unknown word in before.compare',
    { method: 'PUT', path: '/a', before: { get: '/a', compare: { s: '{x}' } } },
    'shop.routes.tools.t.before.compare.s: names {x}, which is not a property of input',
  ],
  [
    'a link whose host is a value',
    { method: 'POST', path: '/a/{h}', resultUrl: 'https://{h}/x' },
    'shop.routes.tools.t.resultUrl: must be a path or an http(s) address with a fixed host',
  ],
  [
    'a link with a script',
    { method: 'POST', path: '/a', resultUrl: 'javascript:alert(1)' },
    'shop.routes.tools.t.resultUrl: must be a path or an http(s) address with a fixed host',
  ],
  [
    'an input that is no object',
    { method: 'POST', path: '/a', input: { type: 'string' } },
    'shop.routes.tools.t.input: must describe an object (type: object)',
  ],
  [
    'a type that is none',
    { method: 'POST', path: '/a', input: { type: 'object', properties: { b: { type: 'strin' } } } },
    'shop.routes.tools.t.input.properties.b.type: must be one of object, array, string, number, integer, boolean, null, or a list of them',
  ],
  [
    'a limit whose name is misspelt, which would limit nothing',
    { method: 'POST', path: '/a', input: { type: 'object', properties: { b: { type: 'number', maximun: 500 } } } },
    'shop.routes.tools.t.input.properties.b.maximun: is no keyword of JSON Schema, so it would limit nothing: correct its spelling',
  ],
  [
    'a misspelt keyword further down',
    {
      method: 'POST',
      path: '/a',
      input: { type: 'object', properties: { b: { type: 'array', items: { anyOf: [{ typ: 'string' }] } } } },
    },
    'shop.routes.tools.t.input.properties.b.items.anyOf.0.typ: is no keyword of JSON Schema',
  ],
  [
    'a list of allowed values that is none',
    { method: 'POST', path: '/a', input: { type: 'object', properties: { b: { enum: 'a' } } } },
    'shop.routes.tools.t.input.properties.b.enum: must be a list with at least one value',
  ],
  [
    'a write that is given again',
    { method: 'POST', path: '/a', cacheFor: 'PT30S' },
    'shop.routes.tools.t.cacheFor: is only for reads: a write is carried out each time',
  ],
  [
    'a time that is none',
    { method: 'GET', path: '/a', cacheFor: '30s' },
    'shop.routes.tools.t.cacheFor: must be an ISO 8601 duration from PT1S to P400D, for example PT30S',
  ],
]
for (const [name, route, message] of BAD) {
  test(`refused when read: ${name}`, () => {
    expect(() => open({ t: route })).toThrow(message)
  })
}

test('what is named like a keyword, or is a keyword of somebody’s own, is no mistake of an input', () => {
  const properties = {
    maximun: { type: ['string', 'null'], 'x-widget': { typ: 'area' }, examples: [{ typ: 1 }], description: 'Free text' },
    typ: { $ref: '#/$defs/day' },
  }
  const $defs = { day: { type: 'string', format: 'date', pattern: '^2', minLength: 10 } }
  const input = { type: 'object', properties, required: ['typ'], additionalProperties: false, $defs }
  expect(() => open({ t: { method: 'POST', path: '/a', input } })).not.toThrow()
})

test('refused when read: a base URL or headers that cannot be used, without showing a secret', () => {
  expect(() => open({}, { baseUrl: 'ftp://x' })).toThrow('shop.routes.baseUrl: must be an http:// or https:// address')
  expect(() => open({}, { baseUrl: 'http://a:b@x' })).toThrow('shop.routes.baseUrl: must not hold a name or password')
  expect(() => open({}, { baseUrl: 'http://x/?a' })).toThrow('shop.routes.baseUrl: must end with a host or a path')
  expect(() => open({}, { headers: { Host: 'x' } })).toThrow('shop.routes.headers.Host: is set by the call itself')
  expect(() => open({}, { headers: { authorization: 'a\r\nsecret' } })).toThrow(
    /^shop\.routes\.headers\.authorization: is not a valid header \(its value is not shown here\)$/,
  )
})
