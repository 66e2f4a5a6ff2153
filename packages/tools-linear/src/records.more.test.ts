import type { JsonObject } from '@countersign/core'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { CHANGES, failure, issueOf, mutationsOf, runAttempt, seed } from './testing/calls.ts'
import { type OpenWorkspace, openWorkspace } from './testing/open-workspace.ts'

const ENG_1 = 'ENG-1 Sign-in fails on Safari'
const ENG_2 = 'ENG-2 Sessions end too early'
const about = (field: string, value: string) => ({ field, oldValue: value, newValue: value })
const updateId = ({ standIn }: OpenWorkspace) => standIn.world.updates[0]?.id ?? ''

test('cards of documents, links, labels, milestones, updates and relations show what is there now and what becomes of it', async () => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  const fields = async (name: string, args: JsonObject) => (await workspace.look(name, args)).fields
  expect(await fields('attachLink', { issue: 'ENG-2', url: 'https://example.com/x?y=z', title: 'X' })).toEqual([
    about('issue', ENG_2),
    { field: 'url', newValue: 'https://example.com/x?y=z' },
    { field: 'title', newValue: 'X' },
  ])
  expect(await fields('updateAttachment', { issue: 'ENG-1', attachment: 'Seed link', subtitle: 'New' })).toEqual([
    about('issue', ENG_1),
    about('url', 'https://example.com/seed'),
    { field: 'subtitle', oldValue: null, newValue: 'New' },
  ])
  expect(await fields('removeAttachment', { issue: 'ENG-1', attachment: 'seed LINK' })).toEqual([
    about('issue', ENG_1),
    { field: 'url', oldValue: 'https://example.com/seed' },
    { field: 'title', oldValue: 'Seed link' },
    { field: 'source', oldValue: 'unknown' },
    { field: 'attached by', oldValue: 'Ana Ruiz <ana@example.com>' },
  ])
  expect(await fields('deleteLabel', { label: 'Seed', team: 'ENG' })).toEqual([
    { field: 'label', oldValue: 'Seed' },
    { field: 'team', oldValue: 'ENG (Engineering)' },
    { field: 'color', oldValue: '#bec2c8' },
    { field: 'carried by', oldValue: '1 issue: ENG-1' },
  ])
  expect(await fields('updateLabel', { label: 'Bug', name: 'Defect' })).toEqual([
    about('label', 'Bug'),
    about('team', 'all teams'),
    { field: 'name', oldValue: 'Bug', newValue: 'Defect' },
  ])
  expect(await fields('deleteMilestone', { project: 'Sign-in', milestone: 'Second' })).toEqual([
    about('project', 'Sign-in'),
    { field: 'milestone', oldValue: 'Second' },
    { field: 'target date', oldValue: '2026-12-24' },
    { field: 'holds', oldValue: '1 issue: ENG-1' },
  ])
  expect(await fields('moveToMilestone', { issue: 'ENG-1', milestone: 'Seed milestone' })).toEqual([
    about('issue', ENG_1),
    about('project', 'Sign-in'),
    { field: 'milestone', oldValue: 'Second', newValue: 'Seed milestone' },
  ])
  expect(await fields('createProjectUpdate', { project: 'sign-in', health: 'offTrack', body: 'Late.' })).toEqual([
    about('project', 'Sign-in'),
    { field: 'health', oldValue: 'on track', newValue: 'off track' },
    { field: 'update', newValue: 'Late.' },
  ])
  expect(await fields('removeRelation', { issue: 'ENG-2', other: 'ENG-1' })).toEqual([
    about('issue', ENG_2),
    about('other issue', ENG_1),
    { field: 'relations', oldValue: [`is blocked by ${ENG_1}`], newValue: [] },
  ])
  expect(await fields('addRelation', { issue: 'ENG-1', relation: 'duplicatedBy', other: 'ENG-2' })).toContainEqual({
    field: 'relations',
    oldValue: [`blocks ${ENG_2}`, 'is related to ENG-3 Export takes minutes'],
    newValue: [`blocks ${ENG_2}`, 'is related to ENG-3 Export takes minutes', `is duplicated by ${ENG_2}`],
  })
  expect(mutationsOf(workspace)).toHaveLength(15)
})

test('their cards are headed by titles and names, never by an id', async () => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  const heading = async (name: string, args: JsonObject) => (await workspace.look(name, args)).headline
  const { world } = workspace.standIn
  const document = world.documents[0]?.id ?? ''
  const milestone = world.milestones[1]?.id ?? ''
  const [one, two] = [issueOf(workspace, 'ENG-1').id, issueOf(workspace, 'ENG-2').id]
  const project = world.projects[0]?.id ?? ''
  expect(await heading('updateDocument', { document, title: 'X' })).toBe('Change title of the document “Seed document”')
  expect(await heading('deleteDocument', { document })).toBe('Delete the document “Seed document”')
  expect(await heading('createDocument', { title: 'New', project })).toBe('Create the document "New" in the project “Sign-in”')
  expect(await heading('createDocument', { title: 'New', issue: one })).toBe('Create the document "New" on ENG-1')
  expect(await heading('removeAttachment', { issue: one, attachment: 'https://example.com/seed' })).toBe(
    'Take the link “Seed link” off ENG-1',
  )
  expect(await heading('deleteLabel', { label: 'seed', team: 'Engineering' })).toBe('Delete the label “Seed” of team ENG')
  expect(await heading('moveToMilestone', { issue: two, milestone })).toBe('Move ENG-2 to the milestone “Second”')
  expect(await heading('deleteMilestone', { project, milestone })).toBe('Delete the milestone “Second” of the project “Sign-in”')
  expect(await heading('editProjectUpdate', { update: updateId(workspace), health: 'atRisk' })).toBe(
    'Change health of the project update of 2026-11-22 about “Sign-in”',
  )
  expect(await heading('addRelation', { issue: one, relation: 'blockedBy', other: two })).toBe('Record that ENG-1 is blocked by ENG-2')
  expect(await heading('removeRelation', { issue: one, other: two })).toBe('Take back that ENG-1 blocks ENG-2')
})

test('the change of a document is shown as a diff, which turns the content there into the one that is sent', async () => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '<', '“', '\u202e'), maxLength: 4 })
  const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.join('\n'))
  const document = workspace.standIn.world.documents[0]
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after && before !== '' && after !== '')
      Object.assign(document ?? {}, { content: before })
      const args = { document: 'Seed document', content: after }
      const { fields, version } = await workspace.look('updateDocument', args)
      const { diff = '' } = (fields as { field: string; diff?: string }[]).find(({ field }) => field === 'content') ?? {}
      expect(diff).toMatch(/^--- content\n\+\+\+ content\n@@ /)
      expect(applyPatch(before, diff, { autoConvertLineEndings: false })).toBe(after)
      await workspace.run('updateDocument', args, { version })
      expect(document?.content).toBe(after)
    }),
    { seed: inject('propertySeed'), numRuns: 30 },
  )
})

test('a long document is read in parts that put together are the whole, none broken inside of a character', async () => {
  await using workspace = await openWorkspace()
  const content = `${'a'.repeat(49_999)}${'😀'.repeat(30_000)}`
  await runAttempt(workspace, 'createDocument', { title: 'Long', content, project: 'Sign-in' }, 'act_1.1')
  let [read, from]: [string, number | undefined] = ['', 0]
  for (let part = 0; from !== undefined && part < 5; part++) {
    const answer = (await workspace.run('getDocument', { document: 'long', from })) as { content: string; nextFrom?: number }
    expect(answer.content.isWellFormed()).toBe(true)
    expect(answer.content.length).toBeLessThanOrEqual(50_000)
    read += answer.content
    from = answer.nextFrom
  }
  expect(read).toBe(content)
})

test('what cannot be done is refused before anybody is asked, in plain words, and nothing is sent', async () => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  const { world } = workspace.standIn
  const update = updateId(workspace)
  world.documents.push({ ...(world.documents[0] as (typeof world.documents)[0]), id: 'd-2' })
  const theirs = { ...(world.updates[0] as (typeof world.updates)[0]), id: '0b4c1c8e-0000-4000-8000-000000000007' }
  if (world.users[1]) world.updates.unshift({ ...theirs, user: world.users[1] })
  const sent = mutationsOf(workspace).length
  const refusals: [string, JsonObject, RegExp][] = [
    ['createDocument', { title: 'X' }, /in a project or on an issue: name one\.$/],
    ['createDocument', { title: 'X', project: 'Sign-in', issue: 'ENG-1' }, /name one\.$/],
    ['updateDocument', { document: 'Seed document', title: 'X' }, /^"Seed document" may be several: /],
    ['updateDocument', { document: 'Deleted document', title: 'X' }, /is in the trash\.$/],
    ['deleteDocument', { document: 'Nothing' }, /^There is no document "Nothing"\.$/],
    ['restoreDocument', { document: 'd-2' }, /^There is no document "d-2"\.$/],
    ['attachLink', { issue: 'ENG-1', url: 'https://example.com/seed', title: 'Y' }, /^ENG-1 has that link already: "Seed link"\.$/],
    ['updateAttachment', { issue: 'ENG-1', attachment: 'Seed link' }, /^There is nothing to change: name a value\.$/],
    ['updateAttachment', { issue: 'ENG-1', attachment: 'Seed link', title: 'Seed link' }, /is like that already\.$/],
    ['removeAttachment', { issue: 'ENG-2', attachment: 'Seed link' }, /^There is no link "Seed link" on ENG-2\.$/],
    ['createLabel', { name: 'bug', team: 'ENG' }, /^There is a label "Bug" already, for all teams\.$/],
    ['createLabel', { name: 'X', group: 'Bug' }, /^There is no group of labels "Bug" of the workspace\. There are: Area\.$/],
    ['updateLabel', { label: 'Seed', team: 'ENG', name: 'Bug' }, /^There is a label "Bug" already/],
    ['updateLabel', { label: 'Bug', name: 'Bug' }, /is like that already\.$/],
    ['deleteLabel', { label: 'Seed' }, /^There is no label "Seed" of the workspace/],
    ['deleteLabel', { label: 'Bug', team: 'ENG' }, /^There is no label "Bug" in team ENG\. There are: Seed\.$/],
    ['createMilestone', { project: 'Sign-in', name: 'second' }, /has a milestone "Second" already\.$/],
    ['updateMilestone', { project: 'Sign-in', milestone: 'Third', name: 'X' }, /^There is no milestone "Third" in the project "Sign-in"/],
    ['updateMilestone', { project: 'Sign-in', milestone: 'Second', targetDate: '2026-12-24' }, /is like that already\.$/],
    ['moveToMilestone', { issue: 'ENG-3', milestone: 'Second' }, /^ENG-3 is in no project, so it can be in no milestone\.$/],
    ['moveToMilestone', { issue: 'ENG-1', milestone: 'Second' }, /^ENG-1 is in the milestone "Second" already\.$/],
    ['removeFromMilestone', { issue: 'ENG-2' }, /^ENG-2 is in no milestone\.$/],
    ['editProjectUpdate', { update, health: 'onTrack' }, /^The update is like that already\.$/],
    ['editProjectUpdate', { update: theirs.id, health: 'atRisk' }, /^That update is by Bo Chen: only your own can be changed\.$/],
    ['editProjectUpdate', { update: '0b4c1c8e-0000-4000-8000-000000000001', body: 'X' }, /^There is no project update /],
    ['addRelation', { issue: 'ENG-1', relation: 'blocks', other: 'eng-1' }, /^ENG-1 cannot be related to itself\.$/],
    ['addRelation', { issue: 'ENG-2', relation: 'blockedBy', other: 'ENG-1' }, /^ENG-2 is blocked by ENG-1 already\.$/],
    ['addRelation', { issue: 'ENG-3', relation: 'relatedTo', other: 'ENG-1' }, /^ENG-3 is related to ENG-1 already\.$/],
    ['addRelation', { issue: 'ENG-3', relation: 'relatedTo', other: 'ENG-99' }, /^There is no issue ENG-99\.$/],
    ['removeRelation', { issue: 'ENG-2', other: 'ENG-3' }, /^ENG-2 is not related to ENG-3\.$/],
    ['removeRelation', { issue: 'ENG-2', relation: 'blocks', other: 'ENG-1' }, /^ENG-2 has no relation "blocks" to ENG-1\.$/],
  ]
  for (const [name, args, words] of refusals) {
    const error = await failure(workspace.look(name, args))
    expect(error.message, name).toMatch(words)
    expect(error, name).toMatchObject({ kind: 'refused', impossible: true })
  }
  expect(mutationsOf(workspace)).toHaveLength(sent)
})

test('where two issues have several relations, the one that is meant is named', async () => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  await runAttempt(workspace, 'addRelation', { issue: 'ENG-1', relation: 'relatedTo', other: 'ENG-2' }, 'act_1.1')
  const args = { issue: 'ENG-2', other: 'ENG-1' }
  expect((await failure(workspace.look('removeRelation', args))).message).toBe(
    'Several relations may be meant: blockedBy, relatedTo. Say which one.',
  )
  await runAttempt(workspace, 'removeRelation', { ...args, relation: 'blockedBy' }, 'act_2.1')
  expect(await workspace.run('listRelations', { issue: 'ENG-2' })).toMatchObject({ relations: [{ relation: 'relatedTo', issue: 'ENG-1' }] })
})

test.each<[string, JsonObject, (workspace: OpenWorkspace) => void]>([
  [
    'updateDocument',
    { document: 'Seed document', content: 'One\nThree' },
    (at) => Object.assign(at.standIn.world.documents[0] ?? {}, { content: 'Zero\nTwo' }),
  ],
  ['deleteDocument', { document: 'Seed document' }, (at) => Object.assign(at.standIn.world.documents[0] ?? {}, { content: 'Three' })],
  [
    'removeAttachment',
    { issue: 'ENG-1', attachment: 'Seed link' },
    (at) => Object.assign(issueOf(at, 'ENG-1').attachments[0] ?? {}, { subtitle: 'Signed' }),
  ],
  [
    'deleteLabel',
    { label: 'Seed', team: 'ENG' },
    (at) => issueOf(at, 'ENG-4').labels.push(...at.standIn.world.labels.filter(({ name }) => name === 'Seed')),
  ],
  [
    'deleteMilestone',
    { project: 'Sign-in', milestone: 'Second' },
    (at) => Object.assign(issueOf(at, 'ENG-2'), { projectMilestone: at.standIn.world.milestones[1] }),
  ],
  [
    'updateMilestone',
    { project: 'Sign-in', milestone: 'Second', targetDate: '2027-01-01' },
    (at) => Object.assign(at.standIn.world.milestones[1] ?? {}, { targetDate: '2026-12-31' }),
  ],
  [
    'createProjectUpdate',
    { project: 'Sign-in', health: 'atRisk', body: 'Hm.' },
    (at) => Object.assign(at.standIn.world.updates[0] ?? {}, { health: 'offTrack' }),
  ],
  ['addRelation', { issue: 'ENG-2', relation: 'blocks', other: 'ENG-4' }, (at) => issueOf(at, 'ENG-2').relations.splice(0)],
])('%s rests on what was shown: a change in between is found', async (name, args, change) => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  const before = await workspace.look(name, args)
  expect((await workspace.look(name, args)).precondition).toEqual(before.precondition)
  change(workspace)
  expect((await workspace.look(name, args)).precondition).not.toEqual(before.precondition)
})

test('a card is the same whatever order the members of the arguments and of the answers are in', async () => {
  let order = (keys: string[]) => keys
  const reorder = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reorder)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(order(Object.keys(value)).map((key) => [key, reorder(Reflect.get(value, key))]))
  }
  await using workspace = await openWorkspace({ rewrite: (answer) => reorder(JSON.parse(JSON.stringify(answer))) })
  await seed(workspace)
  const cards = new Map<string, unknown>()
  for (const [name, args] of CHANGES) cards.set(name, await workspace.look(name, args))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CHANGES), fc.infiniteStream(fc.nat(100)), async ([name, args], numbers) => {
      order = (keys) =>
        keys
          .map((key): [number, string] => [numbers.next().value ?? 0, key])
          .sort(([a], [b]) => a - b)
          .map(([, key]) => key)
      expect(JSON.stringify(await workspace.look(name, reorder(args) as JsonObject))).toBe(JSON.stringify(cards.get(name)))
    }),
    { seed: inject('propertySeed'), numRuns: 60 },
  )
})

test('with an allow-list of teams, what hangs on others is not there: not read, not listed, not changed', async () => {
  await using workspace = await openWorkspace({ teams: ['eng'] })
  const { world } = workspace.standIn
  await using all = await openWorkspace()
  expect(all.names).toEqual(workspace.names)
  const [mine, theirs] = [issueOf(workspace, 'ENG-1'), issueOf(workspace, 'OPS-1')]
  const at = { createdAt: world.tick(), updatedAt: world.tick() }
  const shared = { ...(world.projects[0] as (typeof world.projects)[0]), id: 'p2', name: 'Shared', teams: [...world.teams] }
  world.projects.push(shared)
  const document = { ...at, slugId: 's', content: 'secret', url: '', trashed: null, creator: null, project: null, issue: null }
  world.documents.push(
    { ...document, id: 'd1', title: 'Theirs 1', project: shared },
    { ...document, id: 'd2', title: 'Theirs 2', issue: theirs },
  )
  world.documents.push({ ...document, id: 'd3', title: 'Theirs 3' })
  const relation = { id: 'r1', createdAt: at.createdAt, type: 'blocks', issue: mine, relatedIssue: theirs }
  mine.relations.push(relation)
  theirs.relations.push(relation)
  const update = { ...at, id: '0b4c1c8e-0000-4000-8000-000000000009', body: 'Theirs', health: 'onTrack', url: '' }
  world.updates.push({ ...update, user: world.users[0] as (typeof world.users)[0], project: shared })
  world.milestones.push({ id: 'm1', name: 'Theirs', description: null, targetDate: null, updatedAt: at.updatedAt, project: shared })
  theirs.attachments.push({
    ...at,
    id: 'a1',
    title: 'Theirs',
    subtitle: null,
    url: 'https://x.example',
    sourceType: null,
    creator: null,
    issue: theirs,
  })
  const label = { ...(world.labels[0] as (typeof world.labels)[0]), id: 'l9', name: 'Ours', team: world.teams[0] ?? null }
  world.labels.push(label)
  for (const issue of [mine, theirs]) issue.labels.push(label)
  expect((await workspace.look('deleteLabel', { label: 'Ours', team: 'ENG' })).fields).toContainEqual({
    field: 'carried by',
    oldValue: '2 issues: ENG-1, …',
  })
  const reads: [string, JsonObject][] = [
    ['listDocuments', { limit: 100 }],
    ['searchDocuments', { text: 'secret' }],
    ['listRelations', { issue: 'ENG-1' }],
    ['listLabels', {}],
  ]
  for (const [name, args] of reads)
    expect(JSON.stringify(await workspace.run(name, args)), name).not.toMatch(/OPS|On call|Theirs|certificates/)
  const refused: [string, JsonObject][] = [
    ['getDocument', { document: 'Theirs 1' }],
    ['getDocument', { document: 'Theirs 2' }],
    ['updateDocument', { document: 'Theirs 3', content: 'X' }],
    ['deleteDocument', { document: 'Theirs 2' }],
    ['createDocument', { title: 'X', project: 'Shared' }],
    ['createDocument', { title: 'X', issue: theirs.id }],
    ['listDocuments', { issue: 'OPS-1' }],
    ['listAttachments', { issue: 'OPS-1' }],
    ['attachLink', { issue: 'OPS-1', url: 'https://example.com', title: 'X' }],
    ['removeAttachment', { issue: theirs.id, attachment: 'Theirs' }],
    ['removeAttachment', { issue: 'ENG-1', attachment: 'a1' }],
    ['createLabel', { name: 'X', team: 'OPS' }],
    ['deleteLabel', { label: 'On call', team: 'ENG' }],
    ['listMilestones', { project: 'Shared' }],
    ['createMilestone', { project: 'Shared', name: 'X' }],
    ['deleteMilestone', { project: 'Shared', milestone: 'Theirs' }],
    ['listProjectUpdates', { project: 'Shared' }],
    ['createProjectUpdate', { project: 'Shared', health: 'onTrack', body: 'X' }],
    ['editProjectUpdate', { update: update.id, body: 'X' }],
    ['listRelations', { issue: 'OPS-1' }],
    ['addRelation', { issue: 'ENG-1', relation: 'relatedTo', other: 'OPS-1' }],
    ['removeRelation', { issue: 'ENG-1', other: theirs.id }],
  ]
  for (const [name, args] of refused)
    expect((await failure(workspace.run(name, args))).message, name).toMatch(
      /^There is no (issue|team|project|document|link|label|project update) /,
    )
  for (const [name, args] of [
    ['createLabel', { name: 'X' }],
    ['updateLabel', { label: 'Bug', color: '#000000' }],
    ['deleteLabel', { label: 'Bug' }],
  ] as const)
    expect((await failure(workspace.run(name, args))).message).toMatch(/^Labels of the workspace belong to all teams and stay as they are/)
  expect(mutationsOf(workspace)).toEqual([])
})

test('a link is http or https and ASCII, shown as it is sent, and never what a card links to', async () => {
  await using workspace = await openWorkspace()
  const attach = (url: string) => workspace.tool('attachLink').check({ issue: 'ENG-1', url, title: 'X' }).ok
  const fine = ['https://example.com/a?b=c&d#e', 'http://127.0.0.1:8080', 'https://xn--bcher-kva.example/%C3%BC']
  expect(fine.filter((url) => !attach(url))).toEqual([])
  const bad = ['javascript:alert(1)', 'JAVASCRIPT:x', 'data:text/html,x', 'file:///etc/passwd', 'ftp://x', 'https://', 'https:example.com']
  const strange = [
    'https://b\u00fccher.example',
    'https://example.com/\u202egpj.exe',
    'https://example.com/a b',
    'https://example.com/\n',
    '//x',
    '',
  ]
  expect([...bad, ...strange].filter(attach)).toEqual([])
  const args = { issue: 'ENG-1', url: 'https://evil.example/ENG-1', title: '</a><script>' }
  const output = await runAttempt(workspace, 'attachLink', args, 'act_1.1')
  expect(workspace.tool('attachLink').resultUrl?.(args, output)).toBe(issueOf(workspace, 'ENG-1').url)
  expect(issueOf(workspace, 'ENG-1').attachments).toMatchObject([{ url: args.url, title: args.title }])
})

test('hostile titles, names and bodies stay data: in variables, in quotes of a headline, in one line of an error', async () => {
  const hostile = '”"}) { documentDelete(id: "x") { success } } #\u202e\u200b\n<script>'
  await using workspace = await openWorkspace()
  await seed(workspace)
  const { world } = workspace.standIn
  for (const [nth, [name, args]] of CHANGES.entries()) {
    if (/^(delete|remove)/.test(name)) continue
    const filled = Object.fromEntries(
      Object.entries(args).map(([key, value]) => [
        key,
        ['title', 'content', 'subtitle', 'description', 'body'].includes(key) ? hostile : value,
      ]),
    )
    await runAttempt(workspace, name, filled, `hostile_${nth}.1`)
  }
  await runAttempt(workspace, 'createLabel', { name: hostile.slice(0, 60), team: 'ENG' }, 'hostile_label.1')
  await runAttempt(workspace, 'createMilestone', { project: 'Sign-in', name: hostile }, 'hostile_milestone.1')
  expect(world.documents.map(({ content }) => content)).toContain(hostile)
  expect(world.updates.at(-1)?.body).toBe(hostile)
  const { headline = '' } = await workspace.look('deleteMilestone', { project: 'Sign-in', milestone: hostile })
  // Invisible characters stay in the headline, where the card makes them visible. Quotes in the name are not the ones that enclose it.
  expect(headline).toMatch(/^Delete the milestone “[^”\n]*” of the project “Sign-in”$/)
  const said = await failure(workspace.look('updateMilestone', { project: 'Sign-in', milestone: 'none', name: 'X' }))
  expect(said.message).not.toMatch(/[\n\u202e\u200b]/)
  expect(world.documents.filter(({ trashed }) => trashed === true)).toHaveLength(1)
  const texts = new Set(workspace.standIn.sent.map(({ query }) => query))
  expect([...texts].filter((text) => text.includes('<script>') || text.includes('(id: "x")'))).toEqual([])
})
