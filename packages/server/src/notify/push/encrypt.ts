import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

// Written here and not taken from a library: `web-push` has had no release for two years, `@pushforge/builder` sends the superseded
// encoding `aesgcm`, and none takes the salt and the key that the test vectors of the RFC fix.

/** The keys of a browser's subscription, as `PushSubscription.toJSON()` has them: base64url. */
export interface SubscriptionKeys {
  /** Its public key: 65 bytes of an uncompressed point of P-256. */
  p256dh: string
  /** 16 bytes that only the browser and this server know. */
  auth: string
}

const CURVE = 'prime256v1'
const RECORD_BYTES = 4_096
/** Push services take 4,096 bytes: the header, the delimiter and the tag of the cipher are part of them. */
export const MOST_PLAIN_BYTES = RECORD_BYTES - 86 - 17
/** The plain text is padded to a multiple of this, so that its length says little to the push service. */
const PAD_TO_BYTES = 512

/** The values that the test vectors fix. Both are random for each message. */
interface Drawn {
  salt?: Uint8Array
  /** 32 bytes. */
  privateKey?: Uint8Array
  /** Default: to the next 512 bytes. */
  padTo?: number
}

/**
 * Encrypts a message so that only the subscribed browser reads it: RFC 8291 over the encoding `aes128gcm` of RFC 8188, one record.
 * @throws Error for keys that are no keys, and for more than {@link MOST_PLAIN_BYTES}.
 */
export function encryptPush(text: string, { p256dh, auth }: SubscriptionKeys, drawn: Drawn = {}): Buffer {
  const plain = Buffer.from(text)
  if (plain.length > MOST_PLAIN_BYTES) throw new Error(`a push message holds at most ${MOST_PLAIN_BYTES} bytes, not ${plain.length}`)
  const {
    salt = randomBytes(16),
    privateKey,
    padTo = Math.min(MOST_PLAIN_BYTES, PAD_TO_BYTES * Math.ceil(plain.length / PAD_TO_BYTES)),
  } = drawn
  const theirs = Buffer.from(p256dh, 'base64url')
  const own = createECDH(CURVE)
  if (privateKey) own.setPrivateKey(privateKey)
  else own.generateKeys()
  const { key, nonce } = deriveKeys({
    shared: own.computeSecret(theirs),
    auth: Buffer.from(auth, 'base64url'),
    keyInfo: Buffer.concat([Buffer.from('WebPush: info\0'), theirs, own.getPublicKey()]),
    salt,
  })
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  // 2 marks the last record; zeroes fill the rest.
  const padded = Buffer.concat([plain, Buffer.from([2]), Buffer.alloc(Math.max(0, padTo - plain.length))])
  const record = Buffer.concat([cipher.update(padded), cipher.final(), cipher.getAuthTag()])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(RECORD_BYTES, 0)
  head.writeUInt8(own.getPublicKey().length, 4)
  return Buffer.concat([salt, head, own.getPublicKey(), record])
}

interface Secrets {
  shared: Uint8Array
  auth: Uint8Array
  keyInfo: Uint8Array
  salt: Uint8Array
}

function deriveKeys({ shared, auth, keyInfo, salt }: Secrets): { key: Uint8Array; nonce: Uint8Array } {
  const derive = (from: Uint8Array, by: Uint8Array, info: string | Uint8Array, bytes: number) =>
    new Uint8Array(hkdfSync('sha256', from, by, info, bytes))
  const material = derive(shared, auth, keyInfo, 32)
  return {
    key: derive(material, salt, 'Content-Encoding: aes128gcm\0', 16),
    nonce: derive(material, salt, 'Content-Encoding: nonce\0', 12),
  }
}

/** True for keys with which a message can be encrypted: a point of the curve, and 16 bytes. */
export function areSubscriptionKeys({ p256dh, auth }: SubscriptionKeys): boolean {
  const point = Buffer.from(p256dh, 'base64url')
  if (point.length !== 65 || point[0] !== 4 || Buffer.from(auth, 'base64url').length !== 16) return false
  try {
    const own = createECDH(CURVE)
    own.generateKeys()
    own.computeSecret(point)
    return true
  } catch {
    return false
  }
}
