import { expect, test } from 'vitest'
import { sampleAction } from '../../../../packages/react/src/testing/actions.ts'
import { MOST_AT_ONCE } from './plan.ts'
import { snoozeChoices } from './snooze-choices.ts'

const NOW_MS = Date.parse('2026-11-25T10:00:00.000Z')
const inMinutes = (minutes: number) => new Date(NOW_MS + minutes * 60_000).toISOString()
const open = sampleAction({ id: 'act_open', expiresAt: null })
const hour = sampleAction({ id: 'act_hour', expiresAt: inMinutes(66) })
const soon = sampleAction({ id: 'act_soon', expiresAt: inMinutes(19) })
const last = sampleAction({ id: 'act_last', expiresAt: inMinutes(4) })

test('what would expire before a time is left out of it, and says so', () => {
  const choices = snoozeChoices([soon, open, last, hour], NOW_MS)
  expect(choices.map(({ words, going, left }) => [words, going.map(({ action }) => action.id), left.map(({ why }) => why)])).toEqual([
    ['15 minutes', ['act_open', 'act_hour'], ['It expires too soon for that.', 'It expires too soon for that.']],
    ['1 hour', ['act_open', 'act_hour'], ['It expires too soon for that.', 'It expires too soon for that.']],
    ['1 day', ['act_open'], Array(3).fill('It expires too soon for that.')],
    ['Until 5 minutes before each expires', ['act_soon', 'act_hour'], ['It does not expire.', 'It expires too soon for that.']],
  ])
  expect(choices.at(-1)?.going.map(({ body }) => body)).toEqual([{ until: soon.expiresAt }, { until: hour.expiresAt }])
})

test('the risk of an action does not matter, and a time that is for none is not offered', () => {
  const risky = sampleAction({ id: 'act_risky', expiresAt: null, risk: { level: 'critical', reasons: [], setBy: 'policy' } })
  expect(snoozeChoices([risky], NOW_MS).map(({ words, left }) => [words, left])).toEqual([
    ['15 minutes', []],
    ['1 hour', []],
    ['1 day', []],
  ])
  expect(snoozeChoices([last], NOW_MS)).toEqual([])
})

test('more than go at once are left for the next time', () => {
  const many = Array.from({ length: MOST_AT_ONCE + 1 }, (_, n) => sampleAction({ id: `act_${n}`, expiresAt: null }))
  const [first] = snoozeChoices(many, NOW_MS)
  expect([first?.going.length, first?.left.map(({ why }) => why)]).toEqual([MOST_AT_ONCE, [`At most ${MOST_AT_ONCE} go at once.`]])
})
