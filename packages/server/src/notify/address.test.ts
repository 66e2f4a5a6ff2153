import { openNetwork } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { readAddress } from './address.ts'

const at = (...addresses: string[]) =>
  openNetwork({
    allow: ['10.9.0.0/16', 'hooks.corp'],
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })
const REFUSED = { code: 'bad_request', message: expect.stringContaining('the address is not public') }

test('a name that leads to an address that is not public is refused when the webhook is made, and nobody is told where it leads', async () => {
  const inside = ['169.254.169.254', '10.1.2.3', '127.0.0.1', '::1', 'fd00:ec2::254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe']
  for (const address of inside) {
    for (const name of ['hooks.example.com', 'hooks.example.com.', 'localhost.']) {
      const refused = await readAddress(`https://${name}/x`, at(address)).catch((error: unknown) => error)
      expect(refused, `${name} ${address}`).toMatchObject(REFUSED)
      expect(String(refused)).not.toContain(address)
    }
  }
  await expect(readAddress('https://hooks.example.com/x', at('8.8.8.8', '10.1.2.3'))).rejects.toMatchObject(REFUSED)
  // No name leads to where machines give out credentials, whatever is listed.
  await expect(readAddress('https://hooks.corp/x', at('169.254.169.254'))).rejects.toMatchObject(REFUSED)
  for (const [url, address] of [
    ['https://hooks.example.com/x', '8.8.8.8'],
    ['https://hooks.example.com/x', '10.9.1.1'],
    ['https://hooks.corp/x', '10.1.2.3'],
  ] as const) {
    expect(await readAddress(url, at(address))).toBe(url)
  }
})

test('the names of metadata services are refused where they lead nowhere, too', async () => {
  const nowhere = openNetwork({ allow: ['metadata.google.internal'], resolve: () => Promise.reject(new Error('ENOTFOUND')) })
  for (const name of ['metadata.google.internal', 'METADATA.Google.Internal.', 'metadata.goog', 'instance-data.ec2.internal']) {
    for (const network of [nowhere, at('8.8.8.8')])
      await expect(readAddress(`https://${name}/computeMetadata/v1/`, network), name).rejects.toMatchObject(REFUSED)
  }
})

test('a name that is not known yet is taken: it is looked up again for each attempt', async () => {
  const unknown = openNetwork({ resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })) })
  expect(await readAddress('https://soon.example.com/x', unknown)).toBe('https://soon.example.com/x')
  const silent = openNetwork({ resolve: () => new Promise(() => undefined) })
  expect(await readAddress('https://slow.example.com/x', silent)).toBe('https://slow.example.com/x')
})
