import { parse as legacyParse } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPlainAddress, readAddress } from './read-address.ts'

test('an address that every program reads alike is read: scheme, host, port, path and query', () => {
  expect(readAddress('https://Docs.Example.com:443/a/b?x=1#top')).toEqual({
    understood: true,
    unclear: [],
    isExact: false,
    href: 'https://docs.example.com/a/b?x=1#top',
    scheme: 'https',
    host: 'docs.example.com',
    port: 443,
    path: '/a/b',
    query: 'x=1',
    reach: 'public',
    risks: [],
  })
  expect(readAddress('http://docs.example.com')).toMatchObject({ understood: true, isExact: true, scheme: 'http', port: 80, path: '/' })
})

test.each([
  'https://good.example\\@evil.example/',
  'https:\\\\evil.example/',
  'https:/evil.example/',
  'https:evil.example/',
  'https:///evil.example/',
  '//evil.example/',
  'evil.example',
  'ftp://good.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/plain,x',
  'view-source:https://good.example/',
  ' https://good.example/',
  'https://good.example/ ',
  'https://good.example/\n@evil.example/',
  'https://good\t.example/',
  'htt\nps://good.example/',
  'https://good.example\u0000.evil.example/',
  'https://good.example\u00a0.evil.example/',
  'https://a@b@evil.example/',
  'https://good.example:80:443/',
  'https://good%2eexample/',
  'https://good.example%2f.evil.example/',
  'https://good%00.example/',
  'https://good\u3002example/',
  'https://good\uff0eexample/',
  'https://gооd.example/',
  'https://fa\u00df.example/',
  'https://go\u00adod.example/',
  'https://go\u200bod.example/',
  'https://\u2139.example/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://good.example;.evil.example/',
  "https://good.example'.evil.example/",
  'https://*.evil.example/',
  'https://good..example/',
  'https://.good.example/',
  'Summarize https://good.example/ please',
  'https://good.example/ https://evil.example/',
  '',
])('an address that programs may read differently has no host, and nothing covers it: %j', (text) => {
  const reading = readAddress(text)
  expect(reading).toMatchObject({ understood: false, host: '', isExact: false })
  expect(reading.unclear.length).toBeGreaterThan(0)
  expect(isPlainAddress(reading)).toBe(false)
})

test('a text that is too long is not read', () => {
  expect(readAddress(`https://good.example/${'a'.repeat(20_001)}`)).toMatchObject({ understood: false, host: '', isExact: false })
})

test.each([
  ['https://good.example.evil.example/', 'good.example.evil.example'],
  ['https://good.example-evil.example/', 'good.example-evil.example'],
  ['https://evil.example/good.example', 'evil.example'],
  ['https://evil.example/?https://good.example/', 'evil.example'],
  ['https://evil.example#@good.example/', 'evil.example'],
  ['https://evil.example?@good.example/', 'evil.example'],
  ['https://good.example@evil.example/', 'evil.example'],
  ['https://good.example:pass@evil.example/', 'evil.example'],
  ['https://good.example:8443@evil.example/', 'evil.example'],
  ['https://good.example%40evil@evil.example/', 'evil.example'],
  ['https://EVIL.example./', 'evil.example'],
  ['HTTPS://evil.example:0443/', 'evil.example'],
])('%s goes to %s', (text, host) => expect(readAddress(text)).toMatchObject({ understood: true, host }))

test.each([
  ['https://ana:secret@good.example/', 'carries a user name or password'],
  ['https://good.example/?access_token=x', 'carries “access_token”, which usually is a secret'],
  ['https://good.example/?X-Amz-Signature=x', 'carries “X-Amz-Signature”, which usually is a secret'],
  ['https://127.0.0.1/', 'leads into this machine or its network'],
  ['https://[::1]/', 'leads into this machine or its network'],
  ['https://10.0.0.7/', 'leads into this machine or its network'],
  ['http://localhost/', 'leads into this machine or its network'],
  ['http://localhost./', 'leads into this machine or its network'],
  ['http://app.localhost/', 'leads into this machine or its network'],
  ['http://intranet/', 'leads into this machine or its network'],
  ['http://nas.local/', 'leads into this machine or its network'],
  ['http://10.0.0.7.nip.io/', 'leads into this machine or its network'],
  ['http://www.10-0-0-7.sslip.io/', 'leads into this machine or its network'],
  ['http://169.254.169.254/latest/meta-data/', 'leads to an address where cloud machines give out credentials'],
  ['http://metadata.google.internal/', 'leads to an address where cloud machines give out credentials'],
  ['http://[fd00:ec2::254]/', 'leads to an address where cloud machines give out credentials'],
  ['https://93.184.215.14/', 'names a bare address instead of a host'],
  ['https://good.example:8443/', 'uses the port 8443'],
  ['https://xn--pple-43d.com/', 'has letters in its host that may look like others'],
  [`https://good.example/?q=${'secret '.repeat(20).trim().replaceAll(' ', '+')}`, 'carries much text: 141 characters in its query'],
  [`https://good.example/${'a1B2'.repeat(12)}`, 'carries a code of 48 characters'],
  [`https://${'a1b2'.repeat(12)}.evil.example/`, 'carries a code of 48 characters'],
  [`https://good.example/?x=${'a%3D'.repeat(32)}`, 'carries a code of 66 characters'],
  [`https://good.example/${'ab/'.repeat(101)}`, 'carries much text: 304 characters in its path'],
])('%s: %s', (text, risk) => expect(readAddress(text).risks).toContain(risk))

test.each([
  'https://github.com/a/b/commit/5f0d3c9ab1e24d7f8a6b0c1d2e3f4a5b6c7d8e9f',
  'https://docs.example.com/guide/how-to-write-a-guide-that-people-like-to-read?page=2',
])('%s carries nothing unusual', (text) => expect(readAddress(text)).toMatchObject({ understood: true, isExact: true, risks: [] }))

test.each([
  'https://good.example/a/../b',
  'https://good.example/a/%2e%2e/b',
  'https://good.example/a/..%2fb',
  'https://good.example/a/%2fb',
  'https://good.example/a//b',
  'https://good.example/a/..;/b',
  'https://good.example/a/%252e%252e/b',
  'https://good.example/a\\..\\b',
  'HTTPS://good.example/a',
  'https://GOOD.example/a',
  'https://good.example./a',
  'https://good.example:443/a',
  'https://good.example?x',
  'https://u@good.example/a',
  'https://good.example/ä',
  'https://good.example/a b',
])('no condition of a grant covers an address with another spelling, or a path that a server may read differently: %s', (text) => {
  expect(isPlainAddress(readAddress(text))).toBe(false)
})

/** The host as programs find it that are no browser: by the rules of RFC 3986, as far as a `/`, and as the older parser of Node does. */
const OTHER_PARSERS: ((text: string) => string | null | undefined)[] = [
  (text) => /^[^:/?#]+:\/\/(?:[^/?#]*@)?([^/?#@:]*)(?::\d*)?(?:[/?#]|$)/.exec(text)?.[1],
  (text) => text.split('//')[1]?.split('/')[0]?.split(/[?#]/)[0]?.split('@').at(-1)?.split(':')[0],
  (text) => legacyParse(text).hostname,
]

test('whatever is in a text: where a host is named, every parser sends the request to it', () => {
  const piece = fc.constantFrom(
    ...['good.example', 'evil.example', 'https://', 'http:', '//', '/', '\\', '@', ':', ':443', '?', '#', '%2e', '%40', '%2f', '.', '..'],
    ...['\t', '\n', ' ', '\u3002', 'G', ';', '&', '[::1]', '127.1', '\u0000', '|', '^', '`', '{', '"', '<'],
  )
  let read = 0
  const text = fc.tuple(fc.constantFrom('https://', 'http://', 'HTTPS://', 'https:', ''), fc.array(piece, { maxLength: 7 }))
  fc.assert(
    fc.property(text, ([start, pieces]) => {
      const address = start + pieces.join('')
      const { host } = readAddress(address)
      if (host === '' || host.startsWith('[')) return
      read++
      const bare = (name: string | null | undefined) => name?.toLowerCase().replace(/\.$/, '')
      expect(bare(new URL(address).hostname)).toBe(host)
      for (const parse of OTHER_PARSERS) expect(bare(parse(address)), address).toBe(host)
    }),
    { numRuns: 20_000 },
  )
  expect(read).toBeGreaterThan(200)
})
