import { randomBytes } from 'node:crypto'
import { assert } from '@countersign/core'
import { type Store, settings } from '../store/index.ts'

/** A secret of this installation, made when it is first asked for. It lives in the database, so that a restart changes nothing. */
export async function openSecret(store: Store, name: string): Promise<string> {
  const secret = await store.transact(function* () {
    yield* settings.insertSetting.run({ name, value: randomBytes(32).toString('base64url') })
    return (yield* settings.findSetting.first({ name }))?.value
  })
  assert(secret, `the secret ${name} was just written`)
  return secret
}
