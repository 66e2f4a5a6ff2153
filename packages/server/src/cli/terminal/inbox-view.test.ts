import type { Action } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawInbox } from './draw-inbox.ts'
import { askToApprove, emptyView, type InboxView, press, withItems } from './inbox-view.ts'
import { readKeys } from './keys.ts'
import { styleFor } from './style.ts'

const PLAIN = styleFor(false, {})

const action = (changed: Partial<Action> = {}): Action =>
  ({
    id: 'act_1',
    digest: 'sha256:1',
    revision: 1,
    description: 'Ship ORD-1',
    tool: 'ship',
    risk: { level: 'medium', reasons: ['changes data'] },
    requestedBy: { name: 'Agent' },
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

const of = (...items: Action[]): InboxView => withItems(emptyView(), items)
/** Presses keys one by one, as a person does. */
const type = (view: InboxView, keys: string) =>
  readKeys(keys).reduce<ReturnType<typeof press>>(({ view }, key) => press(view, key, false), { view })

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

test('a pending decision is dropped when the action changes or goes', () => {
  const armed = type(of(action()), 'a').view
  expect(withItems(armed, [action({ digest: 'sha256:2' })])).toMatchObject({ pending: undefined })
  expect(withItems(armed, [action({ id: 'act_2', digest: 'sha256:3' })])).toMatchObject({ pending: undefined, selected: 'act_2' })
  expect(withItems(armed, [action()]).pending).toBeDefined()
})

test('no text from outside makes a line that looks like one of the program', () => {
  const forged = `${'x'.repeat(76)}\nArguments\n{ "amount": 1 }`
  const change = { field: forged, oldValue: forged, newValue: forged }
  const texts = { description: forged, tool: forged, agentSays: forged, arguments: { body: forged } }
  const own = ['Arguments', 'Countersign', 'xxxx', 'Agent says', 'asked by', 'j/k move', 'Nothing was']
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
