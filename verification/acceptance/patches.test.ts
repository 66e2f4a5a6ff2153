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

test('no blank and no control character hides a file of a patch from rules, risk and headline', async () => {
  const { propose } = await startCodingAgent()
  const patch = (...lines: string[]): Promise<Action> =>
    propose('host.patch', { hostTool: 'apply_patch', patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'), options: {} })
  // Codex takes every blank of Unicode away from the line that names a file.
  for (const blank of ['\u00a0', '\u3000', '\u000b', '\u0085', '\u2003 ']) {
    const {
      arguments: args,
      risk,
      description,
    } = await patch('*** Add File: src/a', '+x', `${blank}*** Add File: ../.codex/config.toml`, '+y')
    expect([blank, args.files, args.outside, risk?.level]).toEqual([blank, ['src/a', '../.codex/config.toml'], true, 'high'])
    expect(description).toContain('.codex/config.toml')
  }
  // It ends that line at a line feed, and at nothing else.
  for (const control of ['\r', '\u2028', '\u2029', '\u0085']) {
    const path = `src/a${control}/../../../.ssh/authorized_keys`
    const { arguments: args, risk } = await patch(`*** Add File: ${path}`, '+key')
    expect([control, args.files, args.outside, args.sensitive, risk?.level]).toEqual([control, [path], true, true, 'high'])
    const named = await patch(`*** Add File: src/a${control}b`, '+x')
    expect([control, named.arguments.outside, named.risk?.level]).toEqual([control, true, 'high'])
  }
  // A blank before a path may be a part of it.
  const elsewhere = await patch('*** Add File: \u00a0/../../../home/ana/shop/x', '+x')
  expect(elsewhere.arguments).toMatchObject({ files: ['/../../../home/ana/shop/x'], outside: true })
  const windows = await patch('*** Add File: src/a\r', '+x\r')
  expect(windows).toMatchObject({ arguments: { files: ['src/a'], outside: false, sensitive: false }, risk: { level: 'medium' } })
})
