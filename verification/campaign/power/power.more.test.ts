import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whyNoShim } from '../disk/disk-shim.ts'
import { cutPower } from './cut-power.ts'
import { makeRecordFolder, type Recording, recordLife } from './record-life.ts'

// A small part of `npm run test:campaign -- --only power`.
const why = whyNoShim()
if (why !== undefined) console.warn(`power.test.ts is skipped: ${why}`)

describe.skipIf(why !== undefined)('when the power fails', () => {
  const folder = makeRecordFolder()
  let recording: Recording

  beforeAll(async () => {
    recording = await recordLife({ folder, actions: 3 })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('every answered decision, every attempt that was sent, the archive and the key of the record survive, and the server starts, unheld', async () => {
    expect(recording.witness.refused).toEqual([])
    const { violations, images, met } = await cutPower({ recording, seed: 1, images: 200 })
    expect(violations).toEqual([])
    expect(images).toBe(200)
    expect(Math.min(...Object.values(met))).toBeGreaterThan(0)
    expect(met['a change was torn']).toBeGreaterThan(50)
    expect(met['a name was lost']).toBeGreaterThan(10)
    expect(met['the archive was at work']).toBeGreaterThan(10)
  })

  // Shows that the test above fails on code that does not wait for the disk.
  test.each([
    [
      'commits that are not written to the disk (synchronous = NORMAL)',
      /-wal$/,
      /was answered, and it is|was accepted and is gone|no attempt|the server does not start|everything is held/,
    ],
    ['an archive file that is not written to the disk', /\.gz\.partial$/, /archive's file .* is gone or cut off/],
    ['a key file that is not written to the disk', /^audit\.pem\.\w+\.partial$/, /key of the record is gone or cut off/],
    [
      'folders whose names are not written to the disk',
      /(disk|countersign|data|archive)$/,
      /is gone|the server does not start|everything is held/,
    ],
  ])('%s would be noticed', async (_, file, complaint) => {
    const forgets = (path: string) => file.test(basename(path))
    const { violations } = await cutPower({ recording, seed: 1, images: 600, forgets, endsAtViolation: true })
    expect(violations.join('\n')).toMatch(complaint)
  })

  test('what could be read after a failed fsync is not built upon before it is on the disk', async () => {
    const ownFolder = makeRecordFolder()
    try {
      // From the middle of the first server's work on: the restarted one finds commits that were never written.
      const fault = { call: 'sync', error: 'EIO', nth: 13, count: 0, file: '-wal' } as const
      const failed = await recordLife({ folder: ownFolder, actions: 3, fault })
      expect(failed.calls.filter(({ kind }) => kind === 'sync failed').length).toBeGreaterThan(0)
      expect(failed.witness.refused.length).toBeGreaterThan(0)
      const { violations } = await cutPower({ recording: failed, seed: 2, images: 80 })
      expect(violations).toEqual([])
    } finally {
      rmSync(ownFolder, { recursive: true, force: true })
    }
  })
})
