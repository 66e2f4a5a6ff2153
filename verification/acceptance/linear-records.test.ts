import type { Action, JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { type Mishap, startStandIn } from '../../examples/linear/stand-in/server.ts'
import { linearStarter } from '../../packages/tools-linear/src/starter.ts'
import { API_KEY, exampleSchema, NOW_MS } from '../../packages/tools-linear/src/testing/open-workspace.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

test('a release is planned in Linear: milestone, document, link, relation and update, each decided once; what changed is asked again, what cannot be is not', async () => {
  let fate: Mishap | undefined
  await using linear = await startStandIn({
    schema: exampleSchema,
    apiKey: API_KEY,
    nowMs: NOW_MS,
    mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined),
  })
  await using server = await startTestServer({
    environment: { LINEAR_KEY: API_KEY },
    config: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
      tools: { plan: { linear: { apiKey: '${LINEAR_KEY}', baseUrl: linear.url, teams: ['ENG'] } } },
      policy: { rules: linearStarter('plan') },
    },
  })
  const { world } = linear
  const sent = () => linear.sent.filter(({ query }) => query.startsWith('mutation')).length
  const decide = async (tool: string, args: JsonObject) => approve(server, await propose(server, tool, args))

  const milestone = { project: 'Sign-in', name: 'Beta', targetDate: '2026-12-15' }
  expect(await decide('createMilestone', milestone)).toMatchObject({
    state: 'succeeded',
    description: 'Create the milestone "Beta" in the project “Sign-in”',
    resultUrl: world.projects[0]?.url,
  })
  await decide('updateIssue', { issue: 'ENG-1', project: 'Sign-in' })
  const moved = await propose(server, 'moveToMilestone', { issue: 'ENG-1', milestone: 'beta' })
  expect(moved.preview).toContainEqual({ field: 'milestone', oldValue: null, newValue: 'Beta' })
  expect(await approve(server, moved)).toMatchObject({ state: 'succeeded', result: { milestone: 'Beta' } })

  // The answer is lost, but the document exists once and is found by its id.
  fate = 'lost'
  const lost = await decide('createDocument', { title: 'Release', content: 'One.\nTwo.\n', project: 'Sign-in' })
  fate = undefined
  expect(lost).toMatchObject({ state: 'succeeded', attempt: 1, resultUrl: world.documents[0]?.url })
  expect(world.documents).toHaveLength(1)

  // The server does not overwrite a change that another person made while the card waited: the action goes back for approval with the new
  // diff.
  const edit = await propose(server, 'updateDocument', { document: 'Release', content: 'One.\nTwo and a half.\n' })
  expect(edit.preview?.at(-1)).toMatchObject({ field: 'content', diff: expect.stringContaining('-Two.\n+Two and a half.') })
  Object.assign(world.documents[0] ?? {}, { content: 'Zero.\nTwo.\n', updatedAt: world.tick() })
  const again = await approve(server, edit)
  expect(again).toMatchObject({ state: 'proposed', revision: 2, revised: { why: 'target' } })
  expect(again.preview?.at(-1)?.diff).toContain('-Zero.')
  expect(await approve(server, again)).toMatchObject({ state: 'succeeded' })
  expect(world.documents[0]?.content).toBe('One.\nTwo and a half.\n')

  const linked = await decide('attachLink', { issue: 'ENG-1', url: 'https://example.com/spec', title: 'Spec' })
  expect(linked).toMatchObject({ state: 'succeeded', resultUrl: world.issues[0]?.url, result: { link: 'https://example.com/spec' } })
  // Linear's API requires the title every time; it stays the same when only the subtitle changes.
  await decide('updateAttachment', { issue: 'ENG-1', attachment: 'Spec', subtitle: 'Second draft' })
  expect(world.issues[0]?.attachments).toMatchObject([{ title: 'Spec', subtitle: 'Second draft', url: 'https://example.com/spec' }])
  await decide('addRelation', { issue: 'ENG-1', relation: 'blockedBy', other: 'ENG-2' })
  expect(world.issues[0]?.relations).toMatchObject([{ type: 'blocks', issue: { identifier: 'ENG-2' } }])
  const duplicate = await propose(server, 'addRelation', { issue: 'ENG-4', relation: 'duplicatedBy', other: 'ENG-5' })
  expect(duplicate.preview).toContainEqual({ field: 'status of ENG-5', oldValue: 'Todo', newValue: 'duplicate, set by Linear' })
  await decide('createProjectUpdate', { project: 'Sign-in', health: 'atRisk', body: 'Waits for ENG-2.' })
  expect(world.updates).toMatchObject([{ health: 'atRisk', body: 'Waits for ENG-2.' }])

  const declined = await propose(server, 'deleteMilestone', { project: 'Sign-in', milestone: 'Beta' })
  expect(declined).toMatchObject({ risk: { level: 'high' } })
  expect(declined.preview).toContainEqual({ field: 'holds', oldValue: '1 issue: ENG-1' })
  const before = sent()
  await server.admin.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline' })
  const impossible: [string, JsonObject, RegExp][] = [
    ['attachLink', { issue: 'ENG-1', url: 'https://example.com/spec', title: 'Again' }, /has that link already/],
    ['addRelation', { issue: 'ENG-1', relation: 'blocks', other: 'ENG-1' }, /cannot be related to itself/],
    ['deleteLabel', { label: 'Bug' }, /belong to all teams/],
    ['createDocument', { title: 'X', issue: 'OPS-1' }, /There is no issue OPS-1/],
    ['attachLink', { issue: 'ENG-1', url: 'javascript:alert(1)', title: 'X' }, /url/],
  ]
  for (const [tool, args, why] of impossible) await expect(propose(server, tool, args), tool).rejects.toThrow(why)
  expect(sent()).toBe(before)
  expect(world.milestones).toHaveLength(1)

  // Reads need no approval.
  const reads: [string, JsonObject, unknown][] = [
    ['getDocument', { document: 'Release' }, { content: 'One.\nTwo and a half.\n' }],
    ['listAttachments', { issue: 'ENG-1' }, { attachments: [{ title: 'Spec' }] }],
    ['listRelations', { issue: 'ENG-2' }, { relations: [{ relation: 'blocks', issue: 'ENG-1' }] }],
    ['listProjectUpdates', { project: 'Sign-in' }, { updates: [{ health: 'atRisk', by: 'Ana Ruiz <ana@example.com>' }] }],
  ]
  for (const [tool, args, result] of reads) {
    const { id } = await propose(server, tool, args)
    await server.settle()
    expect(await server.admin.get(`/api/actions/${id}`), tool).toMatchObject({ state: 'succeeded', policy: { verdict: 'allow' }, result })
  }
  expect(JSON.stringify(await server.dump())).not.toContain(API_KEY)
})

const propose = (server: TestServer, tool: string, args: JsonObject): Promise<Action> =>
  server.admin.post('/api/actions', { tool: `plan.${tool}`, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}
