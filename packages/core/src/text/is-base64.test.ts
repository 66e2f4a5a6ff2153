import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isBase64 } from './is-base64.ts'

test('Base64 is told from other texts as the pattern of it tells them', () => {
  const text = fc
    .array(fc.constantFrom('A', 'z', '0', '+', '/', '=', '-', '_', ' ', '\n', 'é'), { maxLength: 6 })
    .map((all) => all.join(''))
  fc.assert(
    fc.property(text, (given) => isBase64(given) === /^[A-Za-z0-9+/]+={0,2}$(?!\n)/.test(given)),
    { numRuns: 2_000 },
  )
})

test('a file of 20 MB in a result is found by a process whose patterns are no longer optimized', () => {
  const script = `
    import { mediaOf } from '@countersign/core'
    const media = [{ type: 'file', mimeType: 'application/zip', data: 'A'.repeat(20_000_000) }]
    console.log(mediaOf({ media }).length)`
  const args = [
    '--no-regexp-optimization',
    '--conditions=countersign-source',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
  ]
  expect(execFileSync(process.execPath, [...args, '-e', script], { encoding: 'utf8', cwd: import.meta.dirname })).toBe('1\n')
})
