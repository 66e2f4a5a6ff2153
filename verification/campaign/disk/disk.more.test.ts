import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DiskFault, whyNoShim } from './disk-shim.ts'
import { prepareFolder, type UsedFolder } from './run-fault.ts'

// A small part of `npm run test:campaign -- --only disk`.
const why = whyNoShim()
if (why !== undefined) console.warn(`disk.test.ts is skipped: ${why}`)

const fault = (call: DiskFault['call'], error: DiskFault['error'], nth: number, count: number, file: string): DiskFault => ({
  ...{ call, error, nth, count, file },
})

describe.skipIf(why !== undefined)('on a disk that fails', () => {
  let folder: UsedFolder

  beforeAll(async () => {
    folder = await prepareFolder()
  })
  afterAll(() => folder[Symbol.asyncDispose]())

  test.each([
    ['an fsync of the log fails once: nothing more is taken until the next start', fault('sync', 'EIO', 6, 1, '-wal'), 503],
    ['a write to the log fails once: nothing more is taken until the next start', fault('write', 'EIO', 40, 1, '-wal'), 503],
    [
      'there is no room for the log: what was refused was not granted, and with room it goes on',
      fault('write', 'ENOSPC', 40, 2, '-wal'),
      507,
    ],
    ['writes to the log are cut short: nobody notices', fault('write', 'SHORT', 5, 50, '-wal'), undefined],
    ['the database file fails when the server stops: the log has it all', fault('write', 'EIO', 1, 0, '.db'), undefined],
    ['the shared memory of the log cannot be made: no start', fault('truncate', 'EIO', 1, 0, '-shm'), undefined],
  ])('%s', async (_, chosen, answer) => {
    const { hits, answers, problems } = await folder.run(chosen)
    expect(problems).toEqual([])
    expect(hits).toBeGreaterThan(0)
    expect(Object.keys(answers).map(Number)).toEqual(answer === undefined ? [] : [answer])
  })
})
