import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { assert } from '@countersign/core'
import { writeDurableFile } from '../durable-files.ts'
import { newSecret, type Store, settings } from '../store/index.ts'

/** The key that signs the record. */
export interface AuditKey {
  /** Its 32 bytes as base64url: heads name their signer by it. */
  readonly publicKey: string
  /** Signs a text; base64url. */
  sign(text: string): string
}

const SETTING = 'audit_key'
/** The prefixes of the 32 bytes of an Ed25519 key in its usual encodings (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * Returns the key of this installation, and creates it on first use: in the database, or in a file that is out of reach of the database's
 * administrators.
 * @param file PEM (PKCS #8); created, readable for its owner alone, when it is missing.
 * @throws Error when the file holds no Ed25519 key, or cannot be read or written.
 */
export async function openAuditKey(store: Store, file: string | undefined): Promise<AuditKey> {
  return file === undefined ? readKey(await openInDatabase(store), 'the database') : readKey(await openInFile(file), file)
}

async function openInDatabase(store: Store): Promise<string> {
  const pem = await store.transact(function* () {
    const found = yield* settings.findSetting.first({ name: SETTING })
    if (found) return found.value
    yield* settings.insertSetting.run({ name: SETTING, value: newPem() })
    return (yield* settings.findSetting.first({ name: SETTING }))?.value
  })
  assert(pem, 'the key was just written')
  return pem
}

async function openInFile(file: string): Promise<string> {
  const missing = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw new Error(`the key of the record in ${file} cannot be read: ${error.message}`, { cause: error })
  }
  const found = await readFile(file, 'utf8').catch(missing)
  if (found !== undefined) return found
  // Another process that starts at the same moment may have created it. Signatures must not outlive their key.
  try {
    writeDurableFile(file, newPem())
  } catch (cause) {
    throw new Error(`the key of the record in ${file} cannot be written: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  return readFile(file, 'utf8')
}

function readKey(pem: string, where: string): AuditKey {
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(pem)
  } catch (cause) {
    throw new Error(`the key of the record in ${where} is not a private key in PEM form`, { cause })
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error(`the key of the record in ${where} must be an Ed25519 key`)
  const bytes = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return {
    publicKey: bytes.subarray(SPKI.length).toString('base64url'),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  }
}

/** Returns true when `key`, 32 bytes as base64url, has signed `text`; false also for an invalid key. */
export function isSignedBy(text: string, signature: string, key: string): boolean {
  const bytes = Buffer.from(key, 'base64url')
  const signed = Buffer.from(signature, 'base64url')
  // Only the canonical spelling is accepted: the last character has bits without meaning.
  if (bytes.length !== 32 || bytes.toString('base64url') !== key || signed.toString('base64url') !== signature) return false
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), publicKey, signed)
}

// The engine's own source of randomness: a simulation creates the same key again.
const newPem = (): string =>
  createPrivateKey({ key: Buffer.concat([PKCS8, newSecret()]), format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
