import type { JsonValue } from '@countersign/core'
import { expect, test } from 'vitest'
import { serviceMessage } from './service-text.ts'

test('a refusal is told in the words of the service, in the shape that its framework gives an error', () => {
  const title = 'title must not be empty'
  const answers: [framework: string, body: JsonValue, words: string][] = [
    ['a problem document', { title: 'Conflict', detail: 'ORD-1 was cancelled.' }, 'ORD-1 was cancelled'],
    ['Slack', { ok: false, error: 'channel_not_found' }, 'channel_not_found'],
    ['Google', { error: { code: 400, message: title, status: 'INVALID_ARGUMENT' } }, title],
    ['Fastify, Hapi and Spring', { statusCode: 400, error: 'Bad Request', message: title }, `Bad Request: ${title}`],
    [
      'Nest',
      { statusCode: 400, error: 'Bad Request', message: [title, 'n must be a number'] },
      `Bad Request: ${title}; n must be a number`,
    ],
    ['an error that repeats itself', { error: 'no stock', message: 'no stock left' }, 'no stock left'],
    ['FastAPI', { detail: [{ type: 'missing', loc: ['body', 'title'], msg: 'Field required' }] }, 'body.title: Field required'],
    ['Directus', { errors: [{ message: title, extensions: { code: 'FAILED_VALIDATION' } }] }, title],
    ['JSON:API', { errors: [{ title: 'Invalid', detail: 'Name is taken.' }, { title: 'Too long' }] }, 'Name is taken; Too long'],
    ['GraphQL', { data: null, errors: [{ message: 'No such field', path: ['createIssue', 0] }] }, 'createIssue.0: No such field'],
    ['Rails', { errors: { title: ["can't be blank", 'is too short'] } }, "title: can't be blank, is too short"],
    ['Rails, whole sentences', { errors: ["Title can't be blank"] }, "Title can't be blank"],
    [
      'Laravel',
      { message: 'The title field is required.', errors: { title: ['The title field is required.'] } },
      'The title field is required',
    ],
    [
      'ASP.NET',
      { title: 'One or more validation errors occurred.', status: 400, errors: { Name: ['The Name field is required.'] } },
      'One or more validation errors occurred: Name: The Name field is required',
    ],
    [
      'Django',
      { title: ['This field is required.'], n: ['A valid integer is required.'] },
      'title: This field is required; n: A valid integer is required',
    ],
    ['express-validator', { errors: [{ type: 'field', msg: 'Invalid value', path: 'title' }] }, 'title: Invalid value'],
  ]
  for (const [framework, body, words] of answers) expect(serviceMessage(body), framework).toBe(words)
})

test('an answer without a sentence has no words, whatever it is made of', () => {
  const deep: JsonValue = { errors: [{ message: { message: 'x' } }, [['y']], null, 7, {}] }
  for (const body of [
    null,
    7,
    [],
    {},
    '',
    '<html>',
    { x: 1 },
    { errors: [] },
    { errors: {} },
    { errors: null },
    { detail: [] },
    deep,
    { ids: [1] },
  ])
    expect(serviceMessage(body), JSON.stringify(body)).toBeUndefined()
})

test('a service that names very many errors is told in one line of at most 500 characters', () => {
  const errors = Array.from({ length: 50_000 }, (_, at) => ({ message: `line\n${at} is\u202e wrong` }))
  const words = serviceMessage({ errors })
  expect(words).toMatch(/^line 0 is wrong; line 1 is wrong; .*…$/)
  expect(words).toHaveLength(500)
})
