import { expect, test } from 'vitest'
import type { Mishap } from '../../../examples/linear/stand-in/server.ts'
import { failure, issueOf, mutationsOf, verify } from './testing/calls.ts'
import { openWorkspace } from './testing/open-workspace.ts'
import { idOf } from './write-tool.ts'

test('a comment that Linear made but does not let the key read is found by its id, so that no retry posts it twice', async () => {
  const hidden = { message: 'no', path: ['commentCreate', 'comment', 'user'], extensions: { type: 'forbidden' } }
  const rewrite = (answer: unknown) =>
    JSON.stringify(answer).startsWith('{"data":{"commentCreate"')
      ? { data: { commentCreate: { success: true, comment: null } }, errors: [hidden] }
      : answer
  await using workspace = await openWorkspace({ rewrite })
  const args = { issue: 'ENG-1', body: 'Once.' }
  const { version } = await workspace.look('comment', args)
  expect(await failure(workspace.run('comment', args, { version }))).toMatchObject({ kind: 'ambiguous' })
  expect(await verify(workspace, 'comment', args, 'act_1.1', version)).toMatchObject({ done: true, output: { id: idOf('act_1.1') } })
})

test('a change whose answer was lost: done when it is so, not done when nothing happened at all, else unknown', async () => {
  let fate: Mishap | undefined
  await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined) })
  const args = { issue: 'ENG-1', assignee: 'cleo' }
  const { version } = await workspace.look('assignIssue', args)
  fate = 'torn'
  await failure(workspace.run('assignIssue', args, { version }))
  expect(await verify(workspace, 'assignIssue', args, 'k', version)).toEqual({ done: false })
  issueOf(workspace, 'ENG-1').updatedAt = workspace.standIn.world.tick()
  expect(await verify(workspace, 'assignIssue', args, 'k', version)).toEqual({ done: 'unknown' })
  fate = 'lost'
  await failure(workspace.run('assignIssue', args, { version }))
  expect(await verify(workspace, 'assignIssue', args, 'k', version)).toMatchObject({ done: true, output: { identifier: 'ENG-1' } })
  const gone = await workspace.look('deleteIssue', { issue: 'ENG-4' })
  await failure(workspace.run('deleteIssue', { issue: 'ENG-4' }, gone))
  expect(await verify(workspace, 'deleteIssue', { issue: 'ENG-4' }, 'k', gone.version)).toMatchObject({ done: true })
})

const errorAnswer = (status: number, extensions: object, headers: Record<string, string> = {}): Mishap => ({
  status,
  headers,
  body: { errors: [{ message: 'said inside', extensions }], data: null },
})

test.each<[string, Mishap, { kind: string; retryable: boolean }, string]>([
  [
    'a key that is not accepted',
    errorAnswer(401, { type: 'authentication error' }),
    { kind: 'refused', retryable: false },
    'Linear does not accept the API key: said inside.',
  ],
  [
    'an error with a code only',
    errorAnswer(400, { code: 'AUTHENTICATION_ERROR' }),
    { kind: 'refused', retryable: false },
    'Linear does not accept the API key: said inside.',
  ],
  [
    'a rate limit with a wait',
    errorAnswer(400, { code: 'RATELIMITED' }, { 'retry-after': '42' }),
    { kind: 'refused', retryable: true },
    'Linear takes no more requests for now. Try again in 42 s.',
  ],
  [
    'a rate limit with a time',
    errorAnswer(429, { type: 'ratelimited' }, { 'x-ratelimit-requests-reset': '1795348800000' }),
    { kind: 'refused', retryable: true },
    'Linear takes no more requests for now. Try again after 2026-11-22T12:00:00.000Z.',
  ],
  [
    'refused values',
    errorAnswer(200, { type: 'invalid input', userPresentableMessage: 'Title is too\nlong‮' }),
    { kind: 'refused', retryable: false },
    'Linear refused the values: Title is too long.',
  ],
  [
    'a missing right',
    errorAnswer(403, { type: 'forbidden' }),
    { kind: 'refused', retryable: false },
    'Linear refused: the API key may not do that: said inside.',
  ],
  [
    'a missing right, told with a part of the change',
    {
      status: 200,
      body: {
        data: { issueUpdate: { success: true, issue: null } },
        errors: [{ message: 'said inside', extensions: { type: 'forbidden' } }],
      },
    },
    { kind: 'ambiguous', retryable: true },
    'Linear failed (200): said inside. Whether it acted is not known.',
  ],
  [
    'a missing right, told from inside the change',
    {
      status: 200,
      body: { data: null, errors: [{ message: 'said inside', path: ['issueUpdate', 'issue'], extensions: { type: 'forbidden' } }] },
    },
    { kind: 'ambiguous', retryable: true },
    'Linear failed (200): said inside. Whether it acted is not known.',
  ],
  [
    'a missing right for the change itself',
    {
      status: 200,
      body: {
        data: { issueUpdate: null },
        errors: [{ message: 'said inside', path: ['issueUpdate'], extensions: { type: 'forbidden' } }],
      },
    },
    { kind: 'refused', retryable: false },
    'Linear refused: the API key may not do that: said inside.',
  ],
  [
    'an error inside Linear',
    errorAnswer(200, { type: 'internal error' }),
    { kind: 'ambiguous', retryable: true },
    'Linear failed (200): said inside. Whether it acted is not known.',
  ],
  [
    'a kind of error that nobody knows',
    errorAnswer(200, { type: 'news' }),
    { kind: 'ambiguous', retryable: true },
    'Linear failed (200): said inside. Whether it acted is not known.',
  ],
  [
    'a gateway that fails',
    { status: 502, body: 'bad gateway' },
    { kind: 'ambiguous', retryable: true },
    'Linear failed (502). Whether it acted is not known.',
  ],
  [
    'a timeout of something on the way',
    { status: 408, body: 'slow' },
    { kind: 'ambiguous', retryable: true },
    'Linear failed (408). Whether it acted is not known.',
  ],
  [
    'another service at the address',
    { status: 404, body: { error: 'no such page' } },
    { kind: 'refused', retryable: false },
    'Linear refused (404): no such page.',
  ],
  [
    'an answer that is none',
    { status: 200, body: { data: { issueUpdate: 7 } } },
    { kind: 'ambiguous', retryable: true },
    'Linear gave an answer that cannot be read. Whether it acted is not known.',
  ],
  [
    'a success that was none',
    { status: 200, body: { data: { issueUpdate: { success: false, issue: null } } } },
    { kind: 'refused', retryable: false },
    'Linear answered that it did not do it.',
  ],
  [
    'a redirect',
    { status: 302, headers: { location: 'http://169.254.169.254/x' }, body: '' },
    { kind: 'ambiguous', retryable: true },
    'answered with a redirect to http://169.254.169.254 (302). Whether it acted is not known.',
  ],
])('%s is told in plain words, sent once', async (_, mishap, kind, words) => {
  await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? mishap : undefined) })
  const error = await failure(workspace.run('changeStatus', { issue: 'ENG-1', status: 'Done' }))
  expect(error).toMatchObject(kind)
  expect(error.message).toContain(words)
  expect(mutationsOf(workspace)).toHaveLength(1)
})
