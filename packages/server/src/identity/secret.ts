import { randomBytes } from 'node:crypto'
import { assert } from '@countersign/core'
import { type Store, settings } from '../store/index.ts'

/** Returns a secret of this installation, and creates it on first use. It lives in the database, so that it survives restarts. */
export async function openSecret(store: Store, name: string): Promise<string> {
  const secret = await store.transact(function* () {
    yield* settings.insertSetting.run({ name, value: randomBytes(32).toString('base64url') })
    return (yield* settings.findSetting.first({ name }))?.value
  })
  assert(secret, `the secret ${name} was just written`)
  return secret
}
