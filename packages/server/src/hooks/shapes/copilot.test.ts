import type { JsonValue } from '@countersign/core'
import { expect, test } from 'vitest'
import { copilotShape } from './copilot.ts'

/** What is reported of a command that put out this. */
function reported(textResultForLlm: JsonValue) {
  const toolResult = { resultType: 'success', textResultForLlm }
  return copilotShape.read(
    { sessionId: 's1', cwd: '/home/ana', toolName: 'bash', toolArgs: { command: 'npm test' }, toolResult },
    'postToolUse',
  )
}

test('a command that ended with another exit code than 0 has failed, whatever it put out before', () => {
  expect(reported('1 failed\n<shellId: 1 completed with exit code 1>\n')).toMatchObject({
    report: { failed: expect.stringContaining('1 failed') },
  })
  expect(reported('<shellId: 1 completed with exit code 1>\n<shellId: 2 completed with exit code 0>')).toMatchObject({
    report: { ok: expect.anything() },
  })
  // In the square of the length, this would take half an hour.
  expect(reported('<shellId: '.repeat(200_000))).toMatchObject({ report: { ok: expect.anything() } })
})
