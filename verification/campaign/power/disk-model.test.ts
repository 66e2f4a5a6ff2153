import { expect, test } from 'vitest'
import { seededRandom } from '../../simulation/random.ts'
import { createDiskModel } from './disk-model.ts'
import type { DiskCall } from './recording.ts'

test('a name in a folder is kept once the folder was synced, also when the folder has the number of a deleted file', () => {
  const text = Buffer.from('whole')
  const sync = (inode: bigint, id: number): DiskCall[] => [
    { ns: 0n, kind: 'sync began', inode, id },
    { ns: 0n, kind: 'synced', inode, id },
  ]
  const calls: DiskCall[] = [
    { ns: 0n, kind: 'opened', inode: 1n, path: '/disk', isNew: false },
    { ns: 0n, kind: 'opened', inode: 5n, path: '/disk/old', isNew: true },
    { ns: 0n, kind: 'unlinked', path: '/disk/old' },
    { ns: 0n, kind: 'made folder', path: '/disk/archive' },
    ...sync(1n, 1),
    { ns: 0n, kind: 'opened', inode: 6n, path: '/disk/archive/one.partial', isNew: true },
    { ns: 0n, kind: 'written', inode: 6n, offset: 0, data: text },
    ...sync(6n, 2),
    { ns: 0n, kind: 'renamed', from: '/disk/archive/one.partial', to: '/disk/archive/one' },
    { ns: 0n, kind: 'opened', inode: 5n, path: '/disk/archive', isNew: false },
    ...sync(5n, 3),
  ]
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed)
    const model = createDiskModel({ random })
    for (const call of calls) model.take(call)
    expect(model.isAtRisk).toBe(false)
    expect([...model.cutPower(random).files]).toEqual([['/disk/archive/one', text]])
  }
})
