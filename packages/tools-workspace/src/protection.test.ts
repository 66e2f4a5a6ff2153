import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnFile } from '@countersign/toolkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_GROUND, openWorkspace, tempFolder } from '../../../verification/testing/workspace.ts'
import { openProtection } from './protection.ts'

const own = (path: string, more: Partial<OwnFile> = {}): OwnFile => ({ path, what: 'the policy', secret: false, family: false, ...more })

test('a file that is named through a link is protected under both names, and so is each link on the way', async () => {
  using folder = tempFolder({ 'conf/real.yaml': 'x', 'notes.md': 'x' })
  using elsewhere = tempFolder()
  symlinkSync('conf/real.yaml', join(folder.root, 'middle.yaml'))
  symlinkSync(join(folder.root, 'middle.yaml'), join(elsewhere.root, 'policy.yaml'))
  const { whyNot } = await openProtection(folder.root, [own(join(elsewhere.root, 'policy.yaml'))])
  expect(whyNot('conf/real.yaml', 'write')).toMatch(/^conf\/real\.yaml is the policy of this server\. No tool changes it/)
  expect(whyNot('middle.yaml', 'write')).toBeDefined()
  expect(whyNot('conf', 'write')).toMatch(/is a folder above the policy/)
  expect(whyNot('conf/real.yaml', 'read')).toBeUndefined()
  expect(whyNot('notes.md', 'write')).toBeUndefined()
})

test('a workspace inside the data folder reads and writes nothing', async () => {
  using folder = tempFolder()
  mkdirSync(join(folder.root, 'data/work'), { recursive: true })
  const { whyNot } = await openProtection(join(folder.root, 'data/work'), [own(join(folder.root, 'data'), { secret: true })])
  expect(whyNot('x', 'read')).toBeDefined()
  expect(whyNot('x', 'write')).toBeDefined()
})

test('a second name of a secret is known by the file itself, and refused by every tool', async () => {
  using folder = tempFolder({ 'data/deep/key': 'secret', 'notes.md': 'x' })
  linkSync(join(folder.root, 'data/deep/key'), join(folder.root, 'innocent'))
  linkSync(join(folder.root, 'notes.md'), join(folder.root, 'copy.md'))
  const { run, source } = await openWorkspace({ root: folder.root })
  await source.attach?.({ ...NO_GROUND, ownFiles: [own(join(folder.root, 'data'), { secret: true })] })
  for (const [tool, args] of [
    ['readFile', { path: 'innocent' }],
    ['deleteFile', { path: 'innocent' }],
    ['moveFile', { from: 'innocent', to: 'other' }],
    ['editFile', { path: 'innocent', edits: [{ oldText: 'secret', newText: 'x' }] }],
  ] as const) {
    await expect(run(tool, args as never), tool).rejects.toMatchObject({ message: expect.stringContaining('secret file of this server') })
  }
  expect(await run('search', { text: 'secret' })).toEqual({ hits: [] })
  expect(await run('readFile', { path: 'copy.md' })).toMatchObject({ text: 'x' })
})

test('no spelling of a protected name gets past: case, form, what cannot be seen, streams, dots at the end', async () => {
  using folder = tempFolder()
  const { whyNot } = await openProtection(folder.root, [own(join(folder.root, 'Conf/Policy.yaml'))])
  const spelling = fc.tuple(
    fc.constantFrom('conf', 'CONF', 'Conf', 'cOnf', '\uff23onf', 'conf.', 'co\u200dnf', 'conf '),
    fc.constantFrom('policy.yaml', 'POLICY.YAML', 'policy.yaml::$DATA', 'policy.yaml.', '\u200bpolicy.yaml', 'policy.\uff59aml'),
    fc.constantFrom('', '/x', '/'),
  )
  fc.assert(fc.property(spelling, ([a, b, c]) => whyNot(`${a}/${b}${c}`, 'write') !== undefined))
  expect(whyNot('conf/policy.yml', 'write')).toBeUndefined()
})
