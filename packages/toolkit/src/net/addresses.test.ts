import { expect, test } from 'vitest'
import { addressKind, readRange } from './addresses.ts'

const KINDS = {
  public: '8.8.8.8 1.1.1.1 192.0.1.1 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.1 ::ffff:8.8.8.8 2606:4700::1111 2a00:1450:4001::200e',
  private:
    '127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 192.88.99.1 ' +
    '198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 ' +
    '64:ff9b::8.8.8.8 64:ff9b:1::1 2001::1 2001:db8::1 2002:7f00:1:: 2002:a00:1:: 3fff::1 4000::1 5f00::1 fc00::1 fd00::1 fec0::1',
  never:
    '0.0.0.0 :: ::ffff:0.0.0.0 169.254.169.254 169.254.0.1 ::ffff:169.254.169.254 fe80::1 fe80::1%eth0 ff02::1 224.0.0.1 255.255.255.255 ' +
    '100.100.100.200 fd00:ec2::254 100::1 127.1 0x7f.0.0.1 2130706433 localhost empty',
}

for (const [kind, addresses] of Object.entries(KINDS)) {
  test(`every address that is ${kind} is known to be`, () => {
    for (const address of addresses.split(' ')) expect(addressKind(address), address).toBe(kind)
  })
}

test('a range holds what lies in it, whichever way it is written', () => {
  const range = readRange('10.1.0.0/16')
  expect(['10.1.2.3', '::ffff:10.1.2.3', '10.2.0.1', '::1', 'nonsense'].map((address) => range?.(address))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  expect(readRange('fd00::5')?.('fd00:0::5')).toBe(true)
  expect(readRange('fd00::5')?.('fd00::6')).toBe(false)
  for (const text of ['10.1.0.0/33', 'crm.internal', '127.1', '', '10.1']) expect(readRange(text), text).toBeUndefined()
})
