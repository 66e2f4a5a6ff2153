import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../verification/testing/workspace.ts'

// Mounts of its own, which nothing else on the machine sees.
const UNSHARE = ['--user', '--map-root-user', '--mount'] as const
const mayMount = spawnSync('unshare', [...UNSHARE, 'true']).status === 0
const bind = (from: string, to: string) => `mount --bind '${from}' '${to}'`

/** Runs calls behind mounts, and returns how each ended. */
function runBehind(mounts: string[], root: string, calls: [string, object][]): { kind: string; message: string }[] {
  const script = `
    import { openWorkspace } from ${JSON.stringify(fileURLToPath(new URL('../../../verification/testing/workspace.ts', import.meta.url)))}
    const { run } = await openWorkspace({ root: ${JSON.stringify(root)} })
    const ends = []
    for (const [name, args] of ${JSON.stringify(calls)})
      ends.push(await run(name, args).then(() => 'done', ({ kind, message }) => ({ kind, message })))
    process.stdout.write(JSON.stringify(ends))`
  const node = `exec '${process.execPath}' --conditions=countersign-source --input-type=module -e "$1"`
  const child = spawnSync('unshare', [...UNSHARE, 'sh', '-ec', [...mounts, node].join('\n'), 'sh', script], { encoding: 'utf8' })
  expect(child.status, child.stderr).toBe(0)
  return JSON.parse(child.stdout)
}

// Only Linux has mounts of one process, and some machines forbid them.
test.skipIf(!mayMount)('a move to another mount is refused in words, and changes nothing', () => {
  using disk = tempFolder()
  using folder = tempFolder({ 'a.txt': 'a\n' })
  mkdirSync(join(folder.root, 'mounted'))
  const calls: [string, object][] = [['moveFile', { from: 'a.txt', to: 'mounted/a.txt' }]]
  expect(runBehind([bind(disk.root, join(folder.root, 'mounted'))], folder.root, calls)).toEqual([
    {
      kind: 'refused',
      message: 'a.txt cannot be moved there: the two paths are on different disks or mounts. Create the file there, then delete this one.',
    },
  ])
  expect(readFileSync(join(folder.root, 'a.txt'), 'utf8')).toBe('a\n')
})

test.skipIf(!mayMount)('a change of a file that is itself a mount is refused in words, and changes nothing', () => {
  using outside = tempFolder({ 'one.txt': 'one\n' })
  using folder = tempFolder({ 'one.txt': '' })
  const calls: [string, object][] = [
    ['editFile', { path: 'one.txt', edits: [{ oldText: 'one', newText: 'two' }] }],
    ['deleteFile', { path: 'one.txt' }],
    ['moveFile', { from: 'one.txt', to: 'two.txt' }],
  ]
  const refused = {
    kind: 'refused',
    message: 'one.txt cannot be replaced or removed: it is in use, for example as a mount of its own. Change it where it is mounted from.',
  }
  const ends = runBehind([bind(join(outside.root, 'one.txt'), join(folder.root, 'one.txt'))], folder.root, calls)
  expect(ends).toEqual([refused, refused, refused])
  expect(readFileSync(join(outside.root, 'one.txt'), 'utf8')).toBe('one\n')
})
