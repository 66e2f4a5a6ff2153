import type { Action, JsonObject } from '@countersign/core'
import { defineSource, type ToolDraft } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { hostTools } from '../../packages/server/src/coding-agent/host-tools.ts'
import { bash, decisionOf, FOLDER, reasonOf } from '../testing/coding-desk.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { startTestServer } from '../testing/test-server.ts'

type Check = ToolDraft['check']

/** The tools for coding agents of a release that checks calls in its own way. */
const groupOf = (checkOf: (check: Check) => Check) => ({
  source: defineSource({
    schema: z.strictObject({}),
    open: () => ({
      kind: 'test',
      secrets: [],
      drafts: () => hostTools().map((draft) => ({ ...draft, check: checkOf(draft.check) })),
      check: async () => [],
    }),
  })({}),
})

const today = groupOf((check) => check)
const readsMore = groupOf((check) => (args: JsonObject) => {
  const checked = check(args)
  return checked.ok ? { ok: true, value: { ...checked.value, shell: { programs: ['another reading'] } } } : checked
})
const refuses = groupOf(() => () => ({ ok: false, issues: [{ path: '/command', message: 'is refused since' }] }))

test.each([
  ['read them otherwise', { host: readsMore }, undefined],
  ['refuse them', { host: refuses }, 'is refused since'],
  ['are gone', {}, 'no tools for coding agents'],
])(
  'calls that are asked about again, and the report of one, are about the actions there are, where the tools %s since',
  async (_, after, refused) => {
    const config: { tools: Record<string, typeof today>; policy: object } = { tools: { host: today }, policy: { default: 'ask' } }
    await using server = await startTestServer({ config })
    const { key } = await server.makeKey({ name: 'ana claude', kind: 'agent', agent: 'claude', roles: ['agent'] })
    const hook = (event: string, body: object, query = '') =>
      server.with({ authorization: `Bearer ${key}` }).send('POST', `/hooks/claude${query}`, {
        body: { session_id: 's1', cwd: FOLDER, hook_event_name: event, ...body },
      })
    const deploy = bash('npm run deploy', 'toolu_1')
    const push = bash('git push', 'toolu_2')

    const asked = hook('PreToolUse', deploy)
    await decide(server, await waiting(server), { verdict: 'approve' })
    expect(decisionOf(await asked)).toBe('allow')
    // Nobody decides about this one in time.
    expect(decisionOf(await hook('PreToolUse', push, '?limit=1'))).toBe('deny')
    const card = await waiting(server)
    await server.restart(() => {
      config.tools = after
    })

    expect(decisionOf(await hook('PreToolUse', deploy))).toBe('allow')
    await decide(server, card, { verdict: 'decline', reason: 'Not on a Friday' })
    expect(reasonOf(await hook('PreToolUse', push))).toContain('Not on a Friday')
    await hook('PostToolUse', { ...deploy, tool_response: { stdout: 'deployed' } })
    // Other calls are refused as ever: with another id, with another input.
    if (refused !== undefined) {
      for (const other of [bash('git push', 'toolu_3'), bash('git push --force', 'toolu_2')]) {
        expect(reasonOf(await hook('PreToolUse', other))).toContain(refused)
      }
    }
    const { items } = await server.admin.get('/api/actions')
    expect(items.map(({ state, result }: Action) => [state, result])).toEqual([
      ['declined', undefined],
      ['succeeded', { ranBy: 'Claude Code', report: { stdout: 'deployed' } }],
    ])
  },
)

test('a repeated command in a folder of its own is found, where a version before read the folder otherwise', async () => {
  const before = groupOf((check) => (args: JsonObject) => {
    const checked = check(args)
    return checked.ok ? { ok: true, value: { ...checked.value, folder: FOLDER } } : checked
  })
  const config: { tools: Record<string, typeof today>; policy: object } = { tools: { host: before }, policy: { default: 'ask' } }
  await using server = await startTestServer({ config })
  const { key } = await server.makeKey({ name: 'ana claude', kind: 'agent', agent: 'claude', roles: ['agent'] })
  const hook = (cwd: string) =>
    server.with({ authorization: `Bearer ${key}` }).send('POST', '/hooks/claude', {
      body: {
        ...{ session_id: 's1', cwd, hook_event_name: 'PreToolUse' },
        ...{ tool_name: 'Bash', tool_input: { command: 'npm run deploy', workdir: 'web' }, tool_use_id: 'toolu_1' },
      },
    })
  const asked = hook(FOLDER)
  await decide(server, await waiting(server), { verdict: 'approve' })
  expect(decisionOf(await asked)).toBe('allow')
  await server.restart(() => {
    config.tools = { host: today }
  })
  expect(decisionOf(await hook(FOLDER))).toBe('allow')
  const elsewhere = hook('/srv/another')
  await decide(server, await waiting(server), { verdict: 'decline' })
  expect(decisionOf(await elsewhere)).toBe('deny')
})
