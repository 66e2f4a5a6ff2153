import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import type { Mishap } from '../../../examples/linear/stand-in/server.ts'
import { CHANGES, failure, issueOf, seed, verify } from './testing/calls.ts'
import { type OpenWorkspace, openWorkspace } from './testing/open-workspace.ts'
import { idOf } from './write-tool.ts'

const CREATES = CHANGES.filter(([name]) => /^(create|add|attach)/.test(name))

test.each(CREATES)(
  '%s whose answer was lost is found by its own id; one that never arrived is known not to be there',
  async (name, args) => {
    let fate: Mishap | undefined
    await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined) })
    await seed(workspace)
    const { version } = await workspace.look(name, args)
    fate = 'torn'
    expect(await failure(workspace.run(name, args, { key: 'act_1.1', version }))).toMatchObject({ kind: 'ambiguous' })
    expect(await verify(workspace, name, args, 'act_1.1', version)).toEqual({ done: false })
    fate = 'lost'
    expect(await failure(workspace.run(name, args, { key: 'act_1.2', version }))).toMatchObject({ kind: 'ambiguous' })
    expect(await verify(workspace, name, args, 'act_1.2', version)).toMatchObject({ done: true, output: { id: idOf('act_1.2') } })
    // A second request with the same key creates no second object, because Linear already has that id, or that address on the issue.
    fate = undefined
    const count = () => {
      const { world } = workspace.standIn
      const ofIssues = world.issues.reduce((sum, { attachments, relations }) => sum + attachments.length + relations.length, 0)
      return ofIssues + world.documents.length + world.labels.length + world.milestones.length + world.updates.length
    }
    const before = count()
    const repeat = workspace.run(name, args, { key: 'act_1.2', version })
    if (name === 'attachLink') expect(await repeat).toMatchObject({ id: idOf('act_1.2') })
    else expect(await failure(repeat)).toMatchObject({ kind: 'refused' })
    expect(count()).toBe(before)
  },
)

test.each<[string, JsonObject]>([
  ...CHANGES.filter(([name]) => /^(update|delete|remove)/.test(name)),
  ['deleteDocument', { document: 'Seed document' }],
  ['restoreDocument', { document: 'Deleted document' }],
  ['removeAttachment', { issue: 'ENG-1', attachment: 'Seed link' }],
  ['deleteLabel', { label: 'Seed', team: 'ENG' }],
  ['moveToMilestone', { issue: 'ENG-1', milestone: 'Seed milestone' }],
  ['removeFromMilestone', { issue: 'ENG-1' }],
])('%s whose answer was lost: done when it is so, not done when it is as it was', async (name, args) => {
  let fate: Mishap | undefined
  await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined) })
  await seed(workspace)
  const { version } = await workspace.look(name, args)
  fate = 'torn'
  await failure(workspace.run(name, args, { version }))
  expect(await verify(workspace, name, args, 'k', version)).toEqual({ done: false })
  fate = 'lost'
  await failure(workspace.run(name, args, { version }))
  expect(await verify(workspace, name, args, 'k', version)).toMatchObject({ done: true })
})

type World = OpenWorkspace['standIn']['world']

/** Takes everything with this name or identifier out of a list, as for a key that lost its access. */
function lose(list: { name?: string; identifier?: string; key?: string }[], which: string): void {
  const kept = list.filter(({ name, identifier, key }) => ![name, identifier, key].includes(which))
  list.splice(0, list.length, ...kept)
}

test.each<[string, JsonObject, (world: World) => void]>([
  ['removeAttachment', { issue: 'ENG-1', attachment: 'Seed link' }, ({ issues }) => lose(issues, 'ENG-1')],
  ['removeRelation', { issue: 'ENG-1', relation: 'blocks', other: 'ENG-2' }, ({ issues }) => lose(issues, 'ENG-1')],
  [
    'deleteMilestone',
    { project: 'Sign-in', milestone: 'Second' },
    ({ projects, milestones }) => {
      lose(projects, 'Sign-in')
      lose(milestones, 'Second')
    },
  ],
  [
    'deleteLabel',
    { label: 'Seed', team: 'ENG' },
    ({ teams, labels }) => {
      lose(teams, 'ENG')
      lose(labels, 'Seed')
    },
  ],
])('%s never counts as done because the key no longer sees what the object belonged to', async (name, args, loseAccess) => {
  let fate: Mishap | undefined
  await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined) })
  await seed(workspace)
  const { version } = await workspace.look(name, args)
  fate = 'torn'
  await failure(workspace.run(name, args, { version }))
  loseAccess(workspace.standIn.world)
  expect(await verify(workspace, name, args, 'k', version)).toEqual({ done: 'unknown' })
})

test('a removed relation of an issue with more relations than Linear lists at once never counts as done', async () => {
  let fate: Mishap | undefined
  await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined) })
  await seed(workspace)
  const args = { issue: 'ENG-1', relation: 'blocks', other: 'ENG-2' }
  const { version } = await workspace.look('removeRelation', args)
  fate = 'torn'
  await failure(workspace.run('removeRelation', args, { version }))
  // A hundred others come before it.
  const { relations } = issueOf(workspace, 'ENG-1')
  const [blocks] = relations
  if (!blocks) throw new Error('ENG-1 has relations')
  relations.unshift(...Array.from({ length: 300 }, (_, i) => ({ ...blocks, id: `${blocks.id}-${i}` })))
  expect(await verify(workspace, 'removeRelation', args, 'k', version)).toEqual({ done: 'unknown' })
})
