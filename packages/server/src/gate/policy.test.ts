import type { PolicyResult } from '@countersign/core'
import { expect, test } from 'vitest'
import { policyText } from './policy.ts'

test('what an action keeps of a policy is text that Postgres reads as jsonb, also where a person wrote a NUL or half a character', () => {
  const said = {
    verdict: 'deny',
    rule: 'night\0ly',
    version: 1,
    reason: 'A person declined exactly this before: no\0 \ud83d',
    requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false },
  } as unknown as PolicyResult
  expect(JSON.parse(policyText(said, {}))).toEqual({
    verdict: 'deny',
    rule: 'night\u{fffd}ly',
    version: 1,
    reason: 'A person declined exactly this before: no\u{fffd} \u{fffd}',
  })
})
