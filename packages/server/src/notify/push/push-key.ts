import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { assert } from '@countersign/core'
import { newSecret, type Store, settings } from '../../store/index.ts'

const SETTING = 'push_key'
/** Push services refuse a signature that is valid for more than a day. */
const VALID_SECONDS = 12 * 3_600

/** The key with which this installation identifies itself to push services (RFC 8292, "VAPID"). */
export interface PushKey {
  /** 65 bytes as base64url: browsers subscribe to messages of this key alone. */
  readonly publicKey: string
  /** Returns the header `authorization` of a message to an endpoint. */
  authorize(endpoint: string, nowMs: number): string
}

/**
 * Returns the key of this installation, and creates it on first use. It is in the database like the other secrets, and a database that looks
 * like a copy sends nothing.
 * @param contact Where the operators of a push service find those of this server: an https address.
 */
export async function openPushKey(store: Store, contact: string | undefined): Promise<PushKey> {
  const text = await store.transact(function* () {
    const found = yield* settings.findSetting.first({ name: SETTING })
    if (found) return found.value
    yield* settings.insertSetting.run({ name: SETTING, value: newKey() })
    return (yield* settings.findSetting.first({ name: SETTING }))?.value
  })
  assert(text, 'the push key was just written')
  return readPushKey(Buffer.from(text, 'base64url'), contact)
}

/** @param bytes The 32 bytes of the private key. */
export function readPushKey(bytes: Uint8Array, contact: string | undefined): PushKey {
  const { publicKey, privateKey } = pairOf(bytes)
  const subject = contact?.startsWith('https://') ? contact : 'mailto:nobody@countersign.invalid'
  return {
    publicKey: publicKey.toString('base64url'),
    authorize(endpoint, nowMs) {
      const claims = { aud: new URL(endpoint).origin, exp: Math.floor(nowMs / 1_000) + VALID_SECONDS, sub: subject }
      const signed = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
      return `vapid t=${signed}.${signature}, k=${publicKey.toString('base64url')}`
    },
  }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function pairOf(bytes: Uint8Array): { publicKey: Buffer; privateKey: KeyObject } {
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(bytes)
  const publicKey = ecdh.getPublicKey()
  const [x, y] = [publicKey.subarray(1, 33), publicKey.subarray(33)].map((part) => part.toString('base64url'))
  const key = { kty: 'EC', crv: 'P-256', x, y, d: Buffer.from(bytes).toString('base64url') }
  return { publicKey, privateKey: createPrivateKey({ key, format: 'jwk' }) }
}

/** Draws from the engine's own source of randomness: a simulation creates the same key again. */
function newKey(): string {
  for (;;) {
    const bytes = newSecret()
    try {
      pairOf(bytes)
      return Buffer.from(bytes).toString('base64url')
    } catch {
      // One number in four thousand million is no key of the curve.
    }
  }
}
