import type { Tool } from '@countersign/core'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { anAction } from '../../store/testing/an-action.ts'
import type { GateDeps } from '../gate.ts'
import { failed, notDone, sentence, succeeded } from './attempt.ts'
import { nextKey, sendsOf } from './attempt-key.ts'

const deps = { log: pino({ level: 'silent' }) } as unknown as GateDeps
const toolWith = (own: Partial<Tool>) => ({ name: 'own.pay', ...own }) as Tool
const REFUSED = failed('refused', 'No', true)

test('a failure settles the first send of an action', () => {
  expect(notDone(anAction('act_1', { attempt: 1 }), toolWith({ idempotent: true }), REFUSED)).toBe(REFUSED)
})

test('a failure of a read settles it, however often it was sent', () => {
  expect(notDone(anAction('act_1', { effect: 'read', attempt: 3 }), toolWith({ idempotent: true }), REFUSED)).toBe(REFUSED)
})

test('a failure after a lost send of a write settles nothing', () => {
  expect(notDone(anAction('act_1', { attempt: 2 }), toolWith({}), REFUSED)).toEqual({
    to: 'lost',
    kind: 'ambiguous',
    message: 'No. An earlier send under the same key may have acted.',
  })
})

test('a failure of a retry settles nothing while the target, or a look-up, may know of the send that was lost before', () => {
  const retried = anAction('act_1', { attempt: 2, first_send: 2, in_doubt: 1 })
  const verify = async () => ({ done: 'unknown' as const })
  expect(notDone(retried, toolWith({ idempotent: true }), REFUSED)).toMatchObject({ to: 'lost' })
  expect(notDone(retried, toolWith({ idempotent: false, verify }), REFUSED)).toMatchObject({ to: 'lost' })
  expect(notDone({ ...retried, in_doubt: 0 }, toolWith({ idempotent: true, verify }), REFUSED)).toBe(REFUSED)
})

test('a failure of a retry stands where a person settled the lost send and nothing else can tell', () => {
  const retried = anAction('act_1', { attempt: 2, first_send: 2, in_doubt: 1 })
  expect(notDone(retried, toolWith({ idempotent: false }), REFUSED)).toBe(REFUSED)
  expect(notDone(retried, undefined, REFUSED)).toBe(REFUSED)
})

test('a message ends as a sentence once', () => {
  expect(['No', 'No.', 'No!', 'No?', 'No…', '3.5 is too much', ''].map(sentence)).toEqual([
    ...['No.', 'No.', 'No!', 'No?', 'No…', '3.5 is too much.', '.'],
  ])
})

test('a result of up to 1,000,000 bytes is kept whole; of a larger one its size and its start', () => {
  // Two quotes, and two bytes for each character.
  const largest = 'é'.repeat(499_999)
  expect(succeeded(deps, toolWith({}), {}, largest).output).toBe(largest)
  expect(succeeded(deps, toolWith({}), {}, `${largest}x`).output).toEqual({
    truncated: true,
    bytes: 1_000_001,
    start: `"${'é'.repeat(9_999)}`,
  })
  expect(succeeded(deps, toolWith({}), {}, undefined)).toEqual({ to: 'succeeded', output: null, url: undefined })
})

test('the link of a result is http, https or a path of this server, and everything else is left out', () => {
  const urlOf = (url: string) => succeeded(deps, toolWith({ resultUrl: () => url }), {}, 1).url
  for (const url of ['http://a.example/1', 'https://a.example/1', 'HTTPS://a.example', '/orders/7', '/']) expect(urlOf(url)).toBe(url)
  for (const url of [
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'x https://a.example',
    'x/orders',
    'ftp://a',
    'http:/a',
    '',
  ])
    expect(urlOf(url), url).toBeUndefined()
})

test('a link that cannot be made leaves the success as it is', () => {
  const broken = toolWith({
    resultUrl: () => {
      throw new Error('no id')
    },
  })
  expect(succeeded(deps, broken, {}, { paid: true })).toEqual({ to: 'succeeded', output: { paid: true }, url: undefined })
})

test('the link is made from the arguments and from the result as it is kept', () => {
  const seen: unknown[] = []
  succeeded(deps, toolWith({ resultUrl: (...given) => void seen.push(given) as undefined }), { id: 7 }, undefined)
  expect(seen).toEqual([[{ id: 7 }, null]])
})

test('the next attempt has a new key after definite failures, and the same one once an outcome was unknown', () => {
  const row = anAction('act_1', { attempt: 2, idempotency_key: 'act_1.1' })
  expect(nextKey({ ...row, in_doubt: 0 })).toBe('act_1.3')
  expect(nextKey({ ...row, in_doubt: 1 })).toBe('act_1.1')
})

test('sends are counted from the one that a person, or the approval, started', () => {
  expect(sendsOf({ attempt: 1, first_send: 1 })).toBe(1)
  expect(sendsOf({ attempt: 5, first_send: 3 })).toBe(3)
})
