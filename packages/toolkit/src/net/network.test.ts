import { expect, test } from 'vitest'
import { openNetwork, RefusedAddress } from './network.ts'

/** A resolver that gives each name its answers in turn, the last one over and over. */
const names = (answers: Record<string, string[][]>) => async (name: string) => {
  const [next = [], ...later] = answers[name] ?? []
  if (later.length > 0) answers[name] = later
  return next.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

const end = async (network: ReturnType<typeof openNetwork>, url: string, own?: string): Promise<string> =>
  network.admit(new URL(url), own).then(
    (addresses) => addresses.map(({ address }) => address).join(),
    (error) => (error instanceof RefusedAddress ? 'refused' : String(error)),
  )

test('anybody’s address is admitted when all its addresses are public, and refused when one is not', async () => {
  const network = openNetwork({ resolve: names({ open: [['8.8.8.8', '2606:4700::1']], mixed: [['8.8.8.8', '127.0.0.1']], none: [[]] }) })
  expect(await end(network, 'https://open/x')).toBe('8.8.8.8,2606:4700::1')
  for (const url of ['https://mixed', 'https://none', 'http://[::1]:80', 'ftp://open', 'http://a:b@open', 'file:///etc/passwd']) {
    expect(await end(network, url), url).toBe('refused')
  }
})

test('the origin that the configuration names may be private, its neighbours may not', async () => {
  const network = openNetwork({ resolve: names({ crm: [['10.0.0.7']] }) })
  expect(await end(network, 'http://crm:8080/x', 'http://crm:8080')).toBe('10.0.0.7')
  expect(await end(network, 'http://127.0.0.1:4400/x', 'http://127.0.0.1:4400')).toBe('127.0.0.1')
  expect(await end(network, 'http://169.254.7.7/x', 'http://169.254.7.7')).toBe('169.254.7.7')
  for (const url of ['http://crm:8081/x', 'https://crm:8080/x', 'http://127.0.0.1:4401']) {
    expect(await end(network, url, 'http://crm:8080'), url).toBe('refused')
  }
})

test('a name that was public stays so: an answer that points inside later gets nowhere, also for the configuration’s own', async () => {
  const network = openNetwork({ resolve: names({ api: [['8.8.8.8'], ['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['8.8.4.4']] }) })
  const own = 'https://api'
  const asked = [await end(network, 'https://api', own), await end(network, 'https://api', own), await end(network, 'https://api', own)]
  expect([...asked, await end(network, 'https://api', own)]).toEqual(['8.8.8.8', 'refused', 'refused', '8.8.4.4'])
})

test('no name leads to where machines give out credentials, not even one of the configuration', async () => {
  const network = openNetwork({ resolve: names({ meta: [['169.254.169.254']] }), allow: ['meta'] })
  expect(await end(network, 'http://meta', 'http://meta')).toBe('refused')
  expect(await end(openNetwork({ resolve: names({ meta: [['169.254.169.254']] }), allow: ['169.254.169.254'] }), 'http://meta')).toBe(
    '169.254.169.254',
  )
})

test('what is listed may be reached: addresses, ranges, names and origins, and nothing beside them', async () => {
  const resolve = names({ crm: [['10.9.0.1']], hr: [['10.9.0.2']], wiki: [['10.9.0.3']] })
  const network = openNetwork({ resolve, allow: ['10.1.0.0/16', '127.0.0.1', 'crm', 'http://hr:8080'] })
  for (const url of ['http://10.1.7.7', 'http://127.0.0.1:9', 'https://crm:1', 'http://hr:8080/x'])
    expect(await end(network, url), url).not.toBe('refused')
  for (const url of ['http://10.2.7.7', 'http://127.0.0.2', 'http://hr:8081', 'https://hr:8080', 'http://wiki']) {
    expect(await end(network, url), url).toBe('refused')
  }
  for (const entry of ['10.0.0.0/99', 'http://a/b', 'ftp://a', 'a b', 'http://u:p@a', '']) {
    expect(() => openNetwork({ allow: [entry] }), entry).toThrow(/must be an address/)
  }
})

test('a refusal says which host, where it leads and what to do, and nothing of the path', async () => {
  const network = openNetwork({ resolve: names({ sly: [['10.0.0.1']] }) })
  await expect(network.admit(new URL('http://sly/secret?token=1'), undefined)).rejects.toThrow(
    /^sly leads to 10\.0\.0\.1, which is not a public address\. If that is right, list it under network\.allow$/,
  )
})
