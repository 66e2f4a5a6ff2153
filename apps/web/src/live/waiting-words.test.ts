import { expect, test } from 'vitest'
import { titleText } from './waiting-words.ts'

test('the title counts what waits for this person, and says what of it is overdue or of unknown outcome', () => {
  expect(titleText({ count: 0, overdue: 0, unknown: 0 }, 'Inbox')).toBe('Inbox – Countersign')
  expect(titleText({ count: 3, overdue: 0, unknown: 0 }, 'Inbox')).toBe('(3) Inbox – Countersign')
  expect(titleText({ count: 3, overdue: 1, unknown: 0 }, 'Inbox')).toBe('(3, 1 overdue) Inbox – Countersign')
  expect(titleText({ count: 1, overdue: 0, unknown: 1 }, 'Inbox')).toBe('(1, 1 outcome unknown) Inbox – Countersign')
  expect(titleText({ count: 5, overdue: 2, unknown: 1 }, 'Inbox')).toBe('(5, 2 overdue, 1 outcome unknown) Inbox – Countersign')
})
