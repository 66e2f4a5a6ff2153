import { createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { browserKeys, decryptPush } from '../../../../../verification/testing/push-service.ts'
import { areSubscriptionKeys, encryptPush, MOST_PLAIN_BYTES } from './encrypt.ts'
import { readPushKey } from './push-key.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

// RFC 8291, section 5 and appendix A.
const RFC = {
  text: 'When I grow up, I want to be a watermelon',
  receiver: {
    privateKey: bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
  sender: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

test('the example of RFC 8291 is encrypted to the same bytes, and read back', () => {
  const body = encryptPush(RFC.text, RFC.receiver, { salt: RFC.salt, privateKey: RFC.sender, padTo: 0 })
  expect(body.toString('base64url')).toBe(RFC.body)
  expect(decryptPush(bytes(RFC.body), RFC.receiver)).toBe(RFC.text)
})

test('each message is read by its browser alone, differs from the one before, and does not show its length', () => {
  const browser = browserKeys()
  const [one, other] = [encryptPush('Refund', browser), encryptPush('Refund an order of a customer', browser)]
  expect(decryptPush(one, browser)).toBe('Refund')
  expect(decryptPush(other, browser)).toBe('Refund an order of a customer')
  expect(one.length).toBe(other.length)
  expect(encryptPush('Refund', browser).equals(one)).toBe(false)
  expect(() => decryptPush(one, browserKeys())).toThrow()
  expect(encryptPush('x'.repeat(MOST_PLAIN_BYTES), browser).length).toBe(4_096)
  expect(() => encryptPush('x'.repeat(MOST_PLAIN_BYTES + 1), browser)).toThrow('at most 3993 bytes')
})

test('what is no key is recognised before anything is encrypted with it', () => {
  const { p256dh, auth } = browserKeys()
  expect(areSubscriptionKeys({ p256dh, auth })).toBe(true)
  expect(areSubscriptionKeys({ p256dh, auth: 'c2hvcnQ' })).toBe(false)
  expect(areSubscriptionKeys({ p256dh: bytes(p256dh).subarray(1).toString('base64url'), auth })).toBe(false)
  const offCurve = bytes(p256dh)
  offCurve.writeUInt8((offCurve.at(-1) ?? 0) ^ 1, offCurve.length - 1)
  expect(areSubscriptionKeys({ p256dh: offCurve.toString('base64url'), auth })).toBe(false)
})

test('the header of a message is signed for its push service and for half a day, as RFC 8292 says', () => {
  const key = readPushKey(RFC.sender, 'https://approve.example.com')
  const header = key.authorize('https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV', 1_453_523_768_000)
  const [, token = '', k] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? []
  expect(k).toBe(key.publicKey)
  const [head = '', claims = '', signature = ''] = token.split('.')
  expect(JSON.parse(bytes(head).toString())).toEqual({ typ: 'JWT', alg: 'ES256' })
  expect(JSON.parse(bytes(claims).toString())).toEqual({
    aud: 'https://push.example.net',
    exp: 1_453_523_768 + 12 * 3_600,
    sub: 'https://approve.example.com',
  })
  const point = bytes(key.publicKey)
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes(signature))).toBe(true)
})
