import type { Action } from '@countersign/client'
import { expect, test } from 'vitest'
import { holdList } from '../steady/steady-list.ts'
import { type Grouping, groupsOf, isGrouping, keepGroup, type Line, linesOf, placeOf, shownLines, unfolded } from './groups.ts'

const action = (id: string, more: object = {}): Action =>
  ({
    id,
    tool: 'setStatus',
    description: `Set order ${id} to cancelled`,
    arguments: { order: id, status: 'cancelled' },
    policy: { rule: 'writes' },
    requires: { quorum: 1 },
    risk: { level: 'medium' },
    executor: 'server',
    agent: 'desk',
    agentVerified: true,
    state: 'proposed',
    createdAt: `2026-11-21T10:00:0${id.length}.000Z`,
    ...more,
  }) as unknown as Action
const high = { risk: { level: 'high' } }

/** The lines as they are read: the count and the title of a group, and the rows below it indented. */
function read(lines: readonly Line[], grouping: Grouping, isFolded = (_: string) => false): string[] {
  const groups = groupsOf(lines, grouping)
  const shown = shownLines(unfolded(lines, isFolded))
  return shown.lines.map(({ action, groupId = '' }, index) => {
    const { heading, at, of } = placeOf(shown, index)
    const place = `${at}/${of}`
    if (action === undefined) return `${place} ${groups.get(groupId)?.open.length} × ${groups.get(groupId)?.title}`
    return heading >= 0 ? `  ${place} ${action.id}` : `${place} ${action.id}`
  })
}
const idOf = ({ id }: Line) => id
const hold = (before: readonly Line[], now: readonly Line[]) => holdList(before, now, idOf, keepGroup).shown

test('actions of the same shape stand under one heading with the words that they share; what differs is a column; one alone has no heading', () => {
  const lines = linesOf([action('1'), action('x', high), action('2')], 'shape')
  expect(read(lines, 'shape')).toEqual(['1/2 2 × Set order … to cancelled', '  1/2 1', '  2/2 2', '2/2 x'])
  const [group] = groupsOf(lines, 'shape').values()
  expect(group).toMatchObject({ columns: ['order'], moreColumns: 0, risk: 'medium', since: '2026-11-21T10:00:01.000Z' })
})

test('a tool, an agent and a risk have a heading above a single action too; a name that an agent only claims is another agent', () => {
  const actions = [action('1'), action('2', { tool: 'pay', ...high }), action('3', { agentVerified: false }), action('4', { agent: null })]
  expect(read(linesOf(actions, 'tool'), 'tool')).toEqual(['1/2 3 × setStatus', '  1/3 1', '  2/3 3', '  3/3 4', '2/2 1 × pay', '  1/1 2'])
  expect(read(linesOf(actions, 'agent'), 'agent').filter((line) => line.includes('×'))).toEqual([
    '1/3 2 × desk',
    '2/3 1 × desk (not verified)',
    '3/3 1 × No agent',
  ])
  expect(read(linesOf(actions, 'risk'), 'risk').filter((line) => line.includes('×'))).toEqual(['1/2 3 × Medium risk', '2/2 1 × High risk'])
})

test('whatever comes, changes or goes, the headings are those of groups that are made anew', () => {
  const order = (at: number, more: object = {}) => action(`${at}`, { arguments: { order: `${at}`, status: 'cancelled' }, ...more })
  const headings = (groups: ReturnType<typeof groupsOf>) =>
    [...groups.values()].map(({ id, title, open, risk, since, differing }) => [id, title, open, risk, since, [...differing].sort()])
  let actions = [order(1), order(2), order(3)]
  let groups = groupsOf(linesOf(actions, 'shape'), 'shape')
  const changes: ((all: Action[]) => Action[])[] = [
    (all) => [...all, order(4)],
    (all) => [order(5), ...all],
    (all) => [...all, order(6, { description: 'Set order 6 to shipped', arguments: { order: '6', status: 'shipped' } })],
    (all) => all.with(1, { ...order(1), state: 'declined' } as Action),
    (all) => all.slice(0, -1),
    (all) => all.with(0, order(5, { description: 'Cancel order 5' })),
    (all) => [...all, order(7, { description: 'Cancel order 7' })],
    (all) => all.filter(({ description }) => description.startsWith('Cancel')),
  ]
  for (const change of changes) {
    actions = change(actions)
    const lines = linesOf(actions, 'shape')
    groups = groupsOf(lines, 'shape', groups)
    expect(headings(groups)).toEqual(headings(groupsOf(lines, 'shape')))
  }
})

test('an action that comes to a group of ten thousand is read, and no other one', () => {
  const before = Array.from({ length: 10_000 }, (_, at) => action(`${at}`))
  const groups = groupsOf(linesOf(before, 'shape'), 'shape')
  let reads = 0
  for (const each of before) {
    const { description } = each
    const get = () => {
      reads++
      return description
    }
    Object.defineProperty(each, 'description', { get })
  }
  const [group] = groupsOf(linesOf([...before, action('10000')], 'shape'), 'shape', groups).values()
  expect(group).toMatchObject({ title: 'Set order … to cancelled', columns: ['order'] })
  expect(reads).toBe(0)
})

test('of ten thousand that are grouped, only the one that comes is asked for its group; the others keep their lines', () => {
  let reads = 0
  const people = [{ id: 'prn_ana', name: 'Ana' }]
  const asked = (id: string) =>
    Object.defineProperty(action(id), 'requesters', {
      get: () => {
        reads++
        return people
      },
    })
  const before = Array.from({ length: 10_000 }, (_, at) => asked(`${at}`))
  const lines = linesOf(before, 'requester')
  reads = 0
  const next = linesOf([...before, asked('10000')], 'requester')
  expect(reads).toBe(1)
  expect(next.slice(1, -1).every((line, at) => line === lines[at + 1])).toBe(true)
})

test('a line stands below the heading above it, and says how many stand there', () => {
  const lines = linesOf([action('1'), action('2'), action('x', high)], 'risk')
  const shown = shownLines(lines)
  expect(lines.map((_, at) => placeOf(shown, at))).toEqual([
    { heading: 0, rows: 2, at: 1, of: 2 },
    { heading: 0, rows: 0, at: 1, of: 2 },
    { heading: 0, rows: 0, at: 2, of: 2 },
    { heading: 3, rows: 1, at: 2, of: 2 },
    { heading: 3, rows: 0, at: 1, of: 1 },
  ])
})

test('a requester and a rule have a heading, too; what no rule matches says so', () => {
  const people = [{ id: 'prn_ana', name: 'Ana' }]
  const [ana, both] = [{ requesters: people }, { requesters: [...people, { id: 'prn_ben', name: 'Ben' }], policy: { rule: 'default' } }]
  const actions = [action('1', ana), action('2', both), action('3', ana)]
  const headings = (grouping: Grouping) => read(linesOf(actions, grouping), grouping).filter((line) => line.includes('×'))
  expect(headings('requester')).toEqual(['1/2 2 × Ana', '2/2 1 × Ana and Ben'])
  expect(headings('rule')).toEqual(['1/2 2 × writes', '2/2 1 × No rule matches'])
})

test('the highest risk and the longest wait are those of actions that still need a person, and decided ones are not counted', () => {
  const actions = [action('1'), action('222', high), action('33', { state: 'declined', risk: { level: 'critical' } })]
  const [group] = groupsOf(linesOf(actions, 'tool'), 'tool').values()
  expect(group).toMatchObject({ risk: 'high', since: '2026-11-21T10:00:01.000Z' })
  expect(group?.open.map(({ id }) => id)).toEqual(['1', '222'])
  expect(group?.members).toHaveLength(3)
})

test('at most three columns are shown, and how many more differ is said', () => {
  const wide = (id: string) => action(id, { arguments: { a: id, b: id, c: id, d: id, e: id } })
  const [group] = groupsOf(linesOf([wide('1'), wide('2')], 'shape'), 'shape').values()
  expect(group).toMatchObject({ columns: ['a', 'b', 'c'], moreColumns: 2 })
})

test('a folded group shows its heading only, and what stands for itself is never folded', () => {
  const lines = linesOf([action('1'), action('2'), action('x', high)], 'shape')
  expect(read(lines, 'shape', () => true)).toEqual(['1/2 2 × Set order … to cancelled', '2/2 x'])
})

test('while the list is held no heading comes above a row that stood alone, even when more of its shape come', () => {
  const before = linesOf([action('x', high), action('1')], 'shape')
  const now = linesOf([action('x', high), action('1'), action('2')], 'shape')
  const held = hold(before, now)
  expect(read(held, 'shape')).toEqual(['1/3 x', '2/3 1', '3/3 2'])
  expect(read(hold(held, now), 'shape')).toEqual(['1/3 x', '2/3 1', '3/3 2'])
})

test('while the list is held a row stays in its group although its action belongs to another one, and a heading stays without rows', () => {
  const before = linesOf([action('1'), action('2'), action('x', high), action('y', high)], 'risk')
  const now = linesOf([action('1', high), action('2', high), action('x', high), action('y', high)], 'risk')
  const ofHigh = (id: string) => id === 'risk high'
  const held = hold(before, now)
  expect(read(held, 'risk', ofHigh)).toEqual(['1/2 2 × Medium risk', '  1/2 1', '  2/2 2', '2/2 2 × High risk'])
  expect(held.map(idOf)).toEqual(before.map(idOf))
  expect(hold(before, linesOf([], 'risk')).map(idOf)).toEqual(before.map(idOf))
})

test('a group in which nothing changed is the same object, and so are columns that stayed', () => {
  const [one, two, other] = [action('1'), action('2'), action('x', { tool: 'pay' })]
  const before = groupsOf(linesOf([one, two, other], 'tool'), 'tool')
  const after = groupsOf(linesOf([one, two, other, action('y', { tool: 'pay' })], 'tool'), 'tool', before)
  expect(after.get('tool setStatus')).toBe(before.get('tool setStatus'))
  expect(after.get('tool pay')?.open).toHaveLength(2)
  const shapes = groupsOf(linesOf([one, two], 'shape'), 'shape')
  const more = groupsOf(linesOf([one, two, action('3')], 'shape'), 'shape', shapes)
  expect([...more.values()][0]?.columns).toBe([...shapes.values()][0]?.columns)
})

test('an address names a way to group or none', () => {
  expect(['shape', 'tool', 'agent', 'risk'].every(isGrouping)).toBe(true)
  expect([null, '', 'toString', 'Shape'].some(isGrouping)).toBe(false)
})
