import { expect, test } from 'vitest'
import { gauge, writeMetrics } from './text.ts'

test('labels are written so that no value ends its line or its quotes', () => {
  const value = 'a "model"\nof \\ two lines'
  expect(writeMetrics([gauge('doors', 'Open\ndoors.', [{ labels: { wall: value }, value: 2 }])])).toBe(
    '# HELP doors Open\\ndoors.\n# TYPE doors gauge\ndoors{wall="a \\"model\\"\\nof \\\\ two lines"} 2\n',
  )
})
