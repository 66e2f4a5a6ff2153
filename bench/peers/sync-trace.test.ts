import { expect, test } from 'vitest'
import { readTrace, syncedFiles } from './sync-trace.ts'

const TRACE = `100   1700000000.100000 pwrite64(27</data/a.db-wal>, "order s7-1", 24, 0) = 24
100   1700000000.200000 fdatasync(27</data/a.db-wal> <unfinished ...>
101   1700000000.210000 write(28</data/b.log>, "s7", 2) = 2
100   1700000000.300000 <... fdatasync resumed>) = 0
100   1700000000.400000 pwrite64(27</data/a.db-wal>, "another", 24, 24) = 24
100   1700000000.450000 pwrite64(27</data/a.db-wal>, "s7 again", 24, 24) = 24
100   1700000000.500000 +++ exited with 0 +++
`

test('a sync counts from when it has ended, also on two lines', () => {
  expect(readTrace(TRACE, 's7').map(({ kind, path, isTagged, atMs }) => [kind, path, isTagged, atMs])).toEqual([
    ['write', '/data/a.db-wal', true, 1_700_000_000_100],
    ['write', '/data/b.log', true, 1_700_000_000_210],
    ['sync', '/data/a.db-wal', false, 1_700_000_000_300],
    ['write', '/data/a.db-wal', false, 1_700_000_000_400],
    ['write', '/data/a.db-wal', true, 1_700_000_000_450],
  ])
})

test('a file is synced while no write of the session came after its last sync', () => {
  const calls = readTrace(TRACE, 's7')
  expect(syncedFiles(calls, 1_700_000_000_250)).toEqual({ synced: [], unsynced: ['/data/a.db-wal', '/data/b.log'] })
  expect(syncedFiles(calls, 1_700_000_000_420)).toEqual({ synced: ['/data/a.db-wal'], unsynced: ['/data/b.log'] })
  expect(syncedFiles(calls, 1_700_000_000_460)).toEqual({ synced: [], unsynced: ['/data/a.db-wal', '/data/b.log'] })
})
