import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { openTools } from './open-tools.ts'
import type { SetupProblem } from './setup-error.ts'
import type { ToolSource } from './source.ts'
import type { ToolDraft } from './tool-draft.ts'

const draft = (name: string): ToolDraft => ({
  name,
  description: '',
  effect: 'read',
  inputSchema: { type: 'object' },
  executor: 'server',
  idempotent: true,
  timeoutMs: 1_000,
  destination: 'local',
  credential: 'none',
  definition: null,
  check: (value: JsonObject) => ({ ok: true, value }),
  describe: () => name,
  execute: async () => null,
})

/** A source whose tools change when it is told to. */
function changingSource(...first: string[]) {
  let names = first
  let onToolsChanged: () => SetupProblem[] = () => []
  const source: ToolSource & { isKnown: boolean } = {
    kind: 'test',
    secrets: [],
    isKnown: true,
    drafts: () => names.map(draft),
    onChange: (given) => {
      onToolsChanged = given
    },
    check: async () => [],
  }
  const become = (...next: string[]) => {
    names = next
    return onToolsChanged()
  }
  return { source, become }
}

test('an agent has the tools that its globs fit now, also those that came while the server ran', () => {
  const { source, become } = changingSource('read')
  const tools = openTools({ files: { prefix: true, source } })
  const own = tools.forAgent(['files.*'])
  expect(own().map(({ name }) => name)).toEqual(['files.read'])
  expect(become('read', 'write')).toEqual([])
  expect(own().map(({ name }) => name)).toEqual(['files.read', 'files.write'])
  expect(tools.byName('files.write')?.modelName).toBe('files_write')
  become('write')
  expect(own().map(({ name }) => name)).toEqual(['files.write'])
  expect(tools.byName('files.read')).toBeUndefined()
})

test('a tool that comes later takes no name from one of another group', () => {
  const { source, become } = changingSource('other')
  const tools = openTools({ loose: { prefix: false, source }, shop: { prefix: true, source: changingSource('pay').source } })
  const pay = tools.byName('shop.pay')
  expect(become('shop.pay', 'other')).toEqual([{ path: ['loose'], message: 'has a tool named shop.pay, and so has the group shop' }])
  expect(tools.byName('shop.pay')).toMatchObject({ group: 'shop', modelName: pay?.modelName })
  expect(tools.byName('other')).toBeDefined()
})

test('a glob is believed while the source it means has not told of its tools, and only then', () => {
  const { source, become } = changingSource()
  source.isKnown = false
  const tools = openTools({ files: { prefix: true, source } })
  expect(['files.read', 'files.*', 'fil*', '*'].map(tools.mayFit)).toEqual([true, true, true, true])
  expect(['file', 'mail.*', 'filet*'].map(tools.mayFit)).toEqual([false, false, false])
  const own = tools.forAgent(['files.read'])
  expect(own()).toEqual([])
  source.isKnown = true
  become('write')
  expect(tools.mayFit('files.read')).toBe(false)
  expect(own()).toEqual([])
})
