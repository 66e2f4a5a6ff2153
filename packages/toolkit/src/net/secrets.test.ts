import { expect, test } from 'vitest'
import { createRedactor } from './secrets.ts'

test('a secret is removed as it is, in its parts, in JSON, in an address and in base64', () => {
  const secret = 'tok-"ä/1?'
  const { text } = createRedactor([`Bearer ${secret}`])
  const spellings = [
    secret,
    `Bearer ${secret}`,
    JSON.stringify(secret),
    `https://a.example/?t=${encodeURIComponent(secret)}`,
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]
  for (const said of spellings) expect(text(said), said).toContain('[redacted]')
})

test('a secret of fewer than six characters is not looked for, so that no ordinary words are blanked out', () => {
  const { text } = createRedactor(['order', 'orders'])
  expect(text('order 7 of the orders')).toBe('order 7 of the [redacted]')
})
