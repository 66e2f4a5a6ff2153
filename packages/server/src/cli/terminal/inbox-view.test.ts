import type { Action } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawInbox } from './draw-inbox.ts'
import { askToApprove, emptyView, type InboxView, press, selectedOf, withItems } from './inbox-view.ts'
import { readKeys } from './keys.ts'
import { styleFor } from './style.ts'

const PLAIN = styleFor(false, {})
const SIZE = { columns: 80, rows: 24 }
/** Returns the lines below the details. */
const lastOf = (lines: readonly string[]) => lines.slice(-5).join(' ').replaceAll(/ +/g, ' ')

const action = (changed: Partial<Action> = {}): Action =>
  ({
    id: 'act_1',
    state: 'proposed',
    digest: 'sha256:1',
    revision: 1,
    description: 'Ship ORD-1',
    tool: 'ship',
    destination: 'https://shop.example',
    credential: 'none',
    executor: 'server',
    risk: { level: 'medium', reasons: ['changes data'], setBy: 'tool' },
    policy: { verdict: 'ask', rule: 'default', version: 1, reason: 'No rule allows this' },
    requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false },
    votes: [],
    revised: null,
    callback: null,
    requestedBy: { name: 'Agent' },
    requesters: [{ name: 'Agent' }],
    agent: null,
    arguments: { orderId: 'ORD-1' },
    preview: null,
    previewError: null,
    expiresAt: null,
    overdue: false,
    agentSays: null,
    context: null,
    ...changed,
  }) as Action

/** The view once it was on the screen. */
const drawn = (view: InboxView, size = SIZE): InboxView => {
  const { isAtEnd, scroll } = drawInbox(view, size, PLAIN)
  const digest = selectedOf(view)?.digest
  return { ...view, scroll, ...(isAtEnd && digest !== undefined && { read: new Set([...view.read, digest]) }) }
}
const of = (...items: Action[]): InboxView => drawn(withItems(emptyView({ id: 'prn_me' }), items))
/** Presses keys one by one, as a person does. */
const type = (view: InboxView, keys: string) =>
  readKeys(keys).reduce<ReturnType<typeof press>>(({ view }, key) => press(view, key, false), { view })

test('U takes back what was approved here last, once, also when nothing else waits, and pasted text does not', () => {
  const view = { ...withItems(emptyView({ id: 'prn_me' }), []), approved: 'act_9' }
  const { view: after, command } = type(view, 'u')
  expect(command).toEqual({ is: 'undo', id: 'act_9' })
  expect(type(after, 'u').command).toBeUndefined()
  expect(type({ ...of(action()), approved: 'act_9' }, 'au').command, 'a question is open').toBeUndefined()
  const [key] = readKeys('u')
  expect(key && press(view, key, true).command).toBeUndefined()
})

test('approving takes two keys, high and critical risk the letter y, and pasted text approves nothing', () => {
  expect(type(of(action()), 'a').command).toBeUndefined()
  expect(type(of(action()), 'a\r').command).toMatchObject({ is: 'approve', action: { digest: 'sha256:1' } })
  for (const level of ['high', 'critical'] as const) {
    const risky = of(action({ risk: { level, reasons: [], setBy: 'tool' } }))
    expect(type(risky, 'a\r').command).toBeUndefined()
    expect(type(risky, 'ay').command).toMatchObject({ is: 'approve' })
  }
  const pasted = readKeys('ay').reduce<ReturnType<typeof press>>(({ view }, key) => press(view, key, true), { view: of(action()) })
  expect(pasted.command).toBeUndefined()
})

test('a long text cannot be approved before its last line was on the screen', () => {
  const long = action({ arguments: { body: 'x '.repeat(4_000) } })
  const size = { columns: 80, rows: 24 }
  let view = of(long)
  expect(type(view, 'a').view).toMatchObject({ pending: undefined, notice: expect.stringContaining('Not all of it was shown') })
  expect(askToApprove(view, long, { body: 'mine' }).pending).toBeUndefined()
  for (let drawn = drawInbox(view, size, PLAIN); !drawn.isAtEnd; drawn = drawInbox(view, size, PLAIN)) {
    view = { ...type(view, ' ').view }
    expect(view.scroll - drawn.scroll).toBeLessThanOrEqual(drawn.lines.length)
  }
  expect(type({ ...view, read: new Set([long.digest]) }, 'ay').command).toMatchObject({ is: 'approve' })
})

test('nothing is approved or edited of which a part was never on the screen, whatever its risk and its size are', () => {
  const preview = Array.from({ length: 30 }, (_, at) => ({ field: `line ${at}`, oldValue: 'a', newValue: 'b' }))
  for (const level of ['medium', 'critical'] as const) {
    let view = of(action({ preview, risk: { level, reasons: [], setBy: 'tool' } }))
    for (const keys of ['ay', 'e']) {
      expect(type(view, keys).command).toBeUndefined()
      expect(type(view, keys[0] ?? '').view.notice).toContain('Not all of it was shown yet')
    }
    while (!drawInbox(view, SIZE, PLAIN).isAtEnd) view = drawn(type(view, ' ').view)
    expect(type(view, 'ay').command).toMatchObject({ is: 'approve' })
    expect(type(view, 'e').command).toMatchObject({ is: 'edit' })
  }
  // The screen has no line for the details.
  const tiny = { columns: 20, rows: 10 }
  expect(type(drawn(withItems(emptyView({ id: 'prn_me' }), [action()]), tiny), 'ay').command).toBeUndefined()
})

test('where somebody else decided the selected action, keys that come at once approve nothing of the next one', () => {
  const next = action({ id: 'act_2', digest: 'sha256:2' })
  const before = of(action(), next)
  const view = drawn(withItems(before, [next], 10_000))
  const at = (nowMs: number) => readKeys('ay').reduce<ReturnType<typeof press>>(({ view }, key) => press(view, key, false, nowMs), { view })
  expect(at(10_499).command).toBeUndefined()
  expect(at(10_499).view).toMatchObject({ selected: 'act_2', pending: undefined })
  expect(at(10_500).command).toMatchObject({ is: 'approve', action: { id: 'act_2' } })
})

test('S offers the times of the console and a number chooses one; any other key and pasted text snooze nothing', () => {
  expect(lastOf(drawInbox(type(of(action()), 's').view, SIZE, PLAIN).lines)).toContain(
    'Snooze it? 1 15 minutes · 2 1 hour · 3 1 day · any other key does not',
  )
  expect(type(of(action()), 's2').command).toMatchObject({ is: 'snooze', action: { id: 'act_1' }, body: { for: 'PT1H' } })
  const expiresAt = new Date(Date.now() + 30 * 60_000).toISOString()
  expect(type(of(action({ expiresAt })), 's2').command).toMatchObject({ body: { until: expiresAt } })
  expect(type(of(action({ expiresAt: new Date().toISOString() })), 's').view.notice).toBe('It expires too soon to be snoozed.')
  for (const keys of ['s0', 's4', 's9', 'sx', 's\r', 's\u001b']) {
    expect(type(of(action()), keys)).toMatchObject({ view: { pending: undefined, notice: 'It was not snoozed.' } })
    expect(type(of(action()), keys).command).toBeUndefined()
  }
  for (const pasted of ['s1', 'm']) {
    let view = of(action())
    for (const key of readKeys(pasted)) {
      const { view: next, command } = press(view, key, true)
      expect(command).toBeUndefined()
      view = next
    }
  }
})

test('a line says to whom an action is assigned, and no name passes for *you* or for the description', () => {
  const given = { by: { id: 'prn_b', kind: 'person' as const, name: 'Ben', roles: [] }, at: '2026-11-24T10:00:00.000Z' }
  const person = (id: string, name: string) => ({ ...given, person: { id, kind: 'person' as const, name, roles: [] } })
  const row = (assignment: Action['assignment']) => drawInbox(of(action({ assignment })), SIZE, PLAIN).lines[1]
  expect(row(null)).toBe('› medium   Ship ORD-1')
  expect(row(person('prn_me', 'Ana'))).toBe('› medium   (assigned to you) Ship ORD-1')
  expect(row({ ...given, role: 'finance' })).toBe('› medium   (assigned to role "finance") Ship ORD-1')
  expect(row(person('prn_b', 'you'))).toBe('› medium   (assigned to "you") Ship ORD-1')
  expect(row(person('prn_b', 'you") Pay 1 €'))).toBe('› medium   (assigned to "you\\") Pay 1 €") Ship ORD-1')
  expect(row(person('prn_b', '\u001b[2J\u202e\n'))).toBe('› medium   (assigned to "\\u001b[2J⟦U+202E⟧\\n") Ship ORD-1')
  expect(row(person('prn_b', 'x'.repeat(200)))).toBe(`› medium   (assigned to "${'x'.repeat(20)}…") Ship ORD-1`)
  expect(type(of(action()), 'm').command).toMatchObject({ is: 'assign', action: { id: 'act_1' } })
})

test('a pending decision is dropped when the action changes or goes', () => {
  const armed = type(of(action()), 'a').view
  expect(withItems(armed, [action({ digest: 'sha256:2' })])).toMatchObject({ pending: undefined })
  expect(withItems(armed, [action({ id: 'act_2', digest: 'sha256:3' })])).toMatchObject({ pending: undefined, selected: 'act_2' })
  expect(withItems(armed, [action()]).pending).toBeDefined()
})

test('a text that looks like a number or a word of JSON is shown unlike the number or the word', () => {
  const change = (field: string, oldValue: unknown, newValue: unknown) => ({ field, oldValue, newValue }) as never
  const preview = [change('amount', 5, '5'), change('to', null, 'null'), change('note', '', 'a\r\nb'), change('kept', '[1]', [1])]
  const { lines } = drawInbox(of(action({ preview })), { columns: 80, rows: 40 }, PLAIN)
  const signed = (at: readonly string[]) => at.filter((line) => /^ {2}[-+] /.test(line)).map((line) => line.trim())
  expect(signed(lines)).toEqual(['- 5', '+ "5"', '- null', '+ "null"', '- ""', '+ a⟦U+000D⟧', '+ b', '- "[1]"', '+ [1]'])
  const edited = drawInbox(askToApprove(of(action({ arguments: { n: 1 } })), action(), { n: '1' }), { columns: 80, rows: 40 }, PLAIN)
  expect(signed(edited.lines)).toEqual(['- 1', '+ "1"'])
})

test('an argument that the person removed is shown as removed, also where every object inherits its name', () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const named = action({ arguments: JSON.parse(`{"${name}": 1}`) })
    const { lines } = drawInbox(askToApprove(of(named), named, {}), { columns: 80, rows: 40 }, PLAIN)
    const at = lines.indexOf('Your changes')
    expect(lines.slice(at + 1, at + 4)).toEqual([name, '  - 1', ''])
  }
})

test('no text from outside makes a line that looks like one of the program', () => {
  const forged = `${'x'.repeat(76)}\nArguments\n{ "amount": 1 }`
  const change = { field: forged, oldValue: forged, newValue: forged }
  const facts = { destination: forged, callback: { host: forged }, revised: { why: 'edit', reason: forged, by: null, at: 'now' } } as const
  const texts = { description: forged, tool: forged, agentSays: forged, arguments: { body: forged }, ...facts }
  const own = [
    'Arguments',
    'Countersign',
    'xxxx',
    'Agent says',
    'asked by',
    'j/k move',
    'Nothing was',
    'Runs at',
    'Policy:',
    'Asked again:',
    'When this ends',
  ]
  for (const columns of [40, 80]) {
    const view = { ...of(action({ ...texts, preview: [change, { field: 'file', diff: forged }] })), notice: `Nothing was ${forged}` }
    const { lines } = drawInbox(view, { columns, rows: 200 }, PLAIN)
    expect(lines.filter((line) => line === 'Arguments')).toHaveLength(1)
    expect(lines.filter((line) => /^[{"]/.test(line))).toEqual([])
    const at = lines.filter((line) => /^[^ ›]/.test(line) && !own.some((start) => line.startsWith(start)))
    expect(at).toEqual(['file'])
  }
})

test('whatever the texts and the size are, the screen is exactly full, every line fits and nothing controls the terminal', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 })
  const size = fc.record({ columns: fc.integer({ min: 20, max: 120 }), rows: fc.integer({ min: 8, max: 40 }) })
  fc.assert(
    fc.property(text, text, size, fc.nat(60), (description, body, size, scroll) => {
      const view = { ...of(action({ description, arguments: { body }, agentSays: body })), scroll, notice: description }
      const { lines } = drawInbox(view, size, PLAIN)
      expect(lines).toHaveLength(size.rows)
      for (const line of lines) {
        expect([...line].length).toBeLessThanOrEqual(size.columns)
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    }),
    { numRuns: 20 },
  )
})
