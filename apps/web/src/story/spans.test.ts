import type { ActionStory } from '@countersign/client'
import { expect, test } from 'vitest'
import { spansOf } from './spans.ts'

const T0 = Date.parse('2026-11-24T10:00:00.000Z')
const at = (ms: number): string => new Date(T0 + ms).toISOString()
const step = (kind: string, ms: number, state?: string) =>
  ({
    id: ms,
    at: at(ms),
    kind,
    actor: { id: 'a', kind: 'person', name: 'Ana' },
    data: state ? { state } : null,
  }) as ActionStory['steps'][number]
const spans = (steps: ActionStory['steps'], nowMs = 99_000) =>
  spansOf(steps, { createdAt: at(0) }, T0 + nowMs).map(({ kind, fromMs, toMs }) => [kind, fromMs - T0, toMs - T0])

test('the time of an action is split at each step: people, the start, the run', () => {
  const steps = [
    step('proposed', 0, 'proposed'),
    step('voted', 10_000, 'proposed'),
    step('approved', 60_000, 'approved'),
    step('executing', 60_020, 'executing'),
    step('succeeded', 61_000, 'succeeded'),
  ]
  expect(spans(steps)).toEqual([
    ['waiting', 0, 60_000],
    ['starting', 60_000, 60_020],
    ['running', 60_020, 61_000],
  ])
})

test('what goes on reaches until now, what failed ends there, and a retry begins again', () => {
  expect(spans([step('proposed', 0, 'proposed')])).toEqual([['waiting', 0, 99_000]])
  const failed = [step('proposed', 0, 'approved'), step('executing', 5, 'executing'), step('failed', 50, 'failed')]
  expect(spans(failed)).toEqual([
    ['starting', 0, 5],
    ['running', 5, 50],
  ])
  expect(spans([...failed, step('retried', 70, 'executing'), step('succeeded', 90, 'succeeded')])).toEqual([
    ['starting', 0, 5],
    ['running', 5, 50],
    ['resting', 50, 70],
    ['running', 70, 90],
  ])
})

test('a story whose data is redacted, or whose clocks went back, still adds up', () => {
  expect(spans([step('proposed', 0), step('approved', 40), step('executing', 30), step('succeeded', 60)])).toEqual([
    ['waiting', 0, 40],
    ['starting', 40, 40],
    ['running', 40, 60],
  ])
})
