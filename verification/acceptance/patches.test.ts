import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { FOLDER, startCodingAgent } from '../testing/coding-agent.ts'

test('a file of a patch is seen however its line is written, and a patch that names no file is high risk', async () => {
  const { propose } = await startCodingAgent()
  const patch = (lines: string[]): Promise<Action> =>
    propose('host.patch', {
      hostTool: 'apply_patch',
      patch: ['*** Begin Patch', '*** Update File: a.ts', '@@', '-a', '+b', ...lines, '*** End Patch'].join('\n'),
      options: {},
    })
  expect(await patch([])).toMatchObject({ arguments: { files: ['a.ts'], outside: false }, risk: { level: 'medium' } })
  // Programs that apply patches forgive blanks around these words.
  for (const line of [
    '*** Add File: /etc/cron.d/x',
    '  *** Add File: /etc/cron.d/x',
    '\t*** Add File: /etc/cron.d/x  ',
    '***  Delete  File:  /etc/cron.d/x',
    '*** add file:/etc/cron.d/x',
    ' *** Move to: /etc/cron.d/x',
  ]) {
    const { arguments: args, risk } = await patch([line])
    expect([line, args.files, args.outside, risk?.level]).toEqual([line, ['a.ts', '/etc/cron.d/x'], true, 'high'])
  }
  const nameless = await propose('host.patch', { hostTool: 'apply_patch', patch: `--- ${FOLDER}/a.ts\n+++ /etc/hosts`, options: {} })
  expect(nameless.risk).toMatchObject({ level: 'high', reasons: ['changes files that cannot be read from it'] })
})
