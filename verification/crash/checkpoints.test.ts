import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CHECKPOINTS } from './checkpoints.ts'

const SERVER = new URL('../../packages/server/src/', import.meta.url).pathname

/** The names in every `checkpoint('…')` of the server's code. */
const namedInCode = (): string[] =>
  readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
    // Tools have moments of their own, which their own tests stop at.
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^(campaign|tools)/.test(path))
    .flatMap((path) => [...readFileSync(join(SERVER, path), 'utf8').matchAll(/\bcheckpoint\('([^']+)'\)/g)].map(([, name]) => name ?? ''))

test('the campaign knows every moment that the code names, and no other', () => {
  expect(CHECKPOINTS.map(({ name }) => name).sort()).toEqual([...new Set(namedInCode())].sort())
})
