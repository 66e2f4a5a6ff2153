import { expect, test } from 'vitest'
import { assert, CountersignError, ERRORS, type ErrorCode, isCountersignError, toProblem } from './errors.ts'

const codes = Object.keys(ERRORS) as ErrorCode[]

// From the wire contract, by hand: programs outside rely on these numbers.
const STATUS: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  illegal_transition: 409,
  already_decided: 409,
  revision_mismatch: 409,
  stale_preview: 409,
  name_taken: 409,
  busy: 409,
  gone: 410,
  too_large: 413,
  invalid_arguments: 422,
  impossible: 422,
  idempotency_mismatch: 422,
  too_many_waiting: 429,
  rate_limited: 429,
  internal: 500,
  not_ready: 503,
  storage_full: 507,
}

test.each(codes)('%s has its status and a title that a person can read', (code) => {
  expect(new CountersignError(code, 'x').status).toBe(STATUS[code])
  expect(ERRORS[code].title).toMatch(/^[A-Z][^.]{4,60}$/)
})

test('a problem document says what, why and which', () => {
  const error = new CountersignError('already_decided', 'act_7 was approved by Ada', { action: { id: 'act_7' } })
  expect(toProblem(error)).toEqual({
    type: 'https://countersign.dev/errors/already_decided',
    title: 'Already decided',
    status: 409,
    code: 'already_decided',
    detail: 'act_7 was approved by Ada',
    action: { id: 'act_7' },
  })
})

test('extra members cannot pass for the error itself', () => {
  const extra = { status: 200, code: 'ok', title: 'fine', type: 'about:blank', detail: 'all good' }
  expect(toProblem(new CountersignError('forbidden', 'no', extra))).toMatchObject({
    status: 403,
    code: 'forbidden',
    title: 'Not allowed',
    detail: 'no',
  })
})

test('an error is told by its code, also when another copy of the package made it', () => {
  const foreign = Object.assign(new Error('not yours'), { code: 'forbidden' })
  expect(isCountersignError(foreign)).toBe(true)
  expect(isCountersignError(new CountersignError('gone', 'archived'))).toBe(true)
})

test.each([
  ['a system error', Object.assign(new Error('x'), { code: 'ENOENT' })],
  ['a code that every object inherits', Object.assign(new Error('x'), { code: 'constructor' })],
  ['a code that is no text', Object.assign(new Error('x'), { code: 404 })],
  ['an error without a code', new Error('x')],
  ['no error at all', { code: 'forbidden' }],
  ['nothing', undefined],
])('%s is not one of ours', (_name, error) => expect(isCountersignError(error)).toBe(false))

test('the cause is kept and stays out of the problem document', () => {
  const cause = new Error('SQLITE_FULL: secret path')
  const error = new CountersignError('storage_full', 'no space left', {}, { cause })
  expect(error.cause).toBe(cause)
  expect(JSON.stringify(toProblem(error))).not.toContain('secret')
})

test('a broken promise throws its sentence', () => {
  expect(() => assert(false, 'a digest is set')).toThrow('assertion failed: a digest is set')
  expect(() => assert(1, 'fine')).not.toThrow()
})
