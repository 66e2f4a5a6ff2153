import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findWrongImports } from './imports.ts'

function wrongImports(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'imports-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return findWrongImports(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

test.each<[string, string, string, RegExp]>([
  ['the store does not know the gate', 'packages/server/src/store/a.ts', `import { x } from '../gate/b.ts'`, /store comes before gate/],
  ['a re-export counts', 'packages/server/src/gate/a.ts', `export * from '../agent/b.ts'`, /gate comes before agent/],
  ['an import at run time counts', 'packages/server/src/agent/a.ts', `await import('../http/b.ts')`, /agent comes before http/],
  [
    'an import of types alone, without import type, still loads',
    'packages/server/src/gate/a.ts',
    `import { type X } from '../cli/b.ts'`,
    /gate comes before cli/,
  ],
  ['tools do not know the store', 'packages/server/src/tools/a.ts', `import '../store/b.ts'`, /do not know each other/],
  ['a source does not know the server', 'packages/tools-mcp/src/a.ts', `import { x } from 'countersign'`, /only values of/],
  ['a source does not know another', 'packages/tools-mcp/src/a.ts', `import { x } from '@countersign/tools-github'`, /only values of/],
  ['a folder without a place is refused', 'packages/server/src/misc/a.ts', `import '../store/b.ts'`, /misc has no place/],
  ['core imports no other package', 'packages/core/src/a.ts', `import { x } from 'countersign'`, /values of no other package/],
  ['the client takes no values of core', 'packages/client/src/a.ts', `import { x } from '@countersign/core'`, /values of no other package/],
  [
    'the console takes no values of core',
    'apps/web/src/a.tsx',
    `import { x } from '@countersign/core'`,
    /only values of @countersign\/client/,
  ],
  [
    'what ships knows no stand-in',
    'packages/server/src/tools/a.ts',
    `import { x } from '../../../examples/x/stand-in/b.ts'`,
    /by its name/,
  ],
  ['another package goes by its name', 'packages/react/src/a.ts', `import { x } from '../../client/src/b.ts'`, /by its name/],
])('%s', (_name, path, text, problem) => {
  expect(wrongImports({ [path]: text })).toEqual([expect.stringMatching(problem)])
})

test.each([
  [
    'packages/server/src/http/a.ts',
    `import { x } from '../agent/b.ts'; import { y } from '../gate/c.ts'; import { z } from '@countersign/core'`,
  ],
  ['packages/server/src/store/a.ts', `import type { X } from '../gate/b.ts'\nexport type { Y } from '../http/c.ts'`],
  ['packages/client/src/a.ts', `import type { Action } from '@countersign/core'`],
  ['packages/core/src/a.ts', `import { z } from 'zod'\nimport { b } from './b.ts'`],
  ['packages/core/src/a.test.ts', `import { start } from 'countersign'`],
  ['verification/testing/a.ts', `import { x } from '../../../examples/x/stand-in/b.ts'`],
])('%s may: %s', (path, text) => expect(wrongImports({ [path]: text })).toEqual([]))

test('a cycle of values is found once, a cycle through types is none', () => {
  const two = (first: string): Record<string, string> => ({
    'packages/core/src/a.ts': `${first} { B } from './b.ts'`,
    'packages/core/src/b.ts': `import { C } from './c.ts'`,
    'packages/core/src/c.ts': `import { A } from './a.ts'`,
  })
  expect(wrongImports(two('import'))).toEqual([expect.stringContaining('a cycle of values: ')])
  expect(wrongImports(two('import type'))).toEqual([])
})

test('a JSON column of an action is parsed in the store alone', () => {
  const withStore = (path: string, text: string) =>
    wrongImports({ [path]: text, 'packages/server/src/store/stored-action.ts': 'interface Columns {\n  checks: Checks\n}\n' })
  const problem = /gate\/a\.ts parses checks: use its reader/
  expect(withStore('packages/server/src/gate/a.ts', 'const checks = JSON.parse(row.checks)')).toEqual([expect.stringMatching(problem)])
  expect(withStore('packages/server/src/gate/a.ts', 'const it = JSON.parse(checks)')).toEqual([expect.stringMatching(problem)])
  expect(withStore('packages/server/src/gate/a.ts', 'const it = JSON.parse(checksFile)')).toEqual([])
  expect(withStore('packages/server/src/store/a.ts', 'const checks = JSON.parse(row.checks)')).toEqual([])
})
