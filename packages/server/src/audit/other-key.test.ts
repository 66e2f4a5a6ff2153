import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { systemClock } from '../clock.ts'
import { audit, principals } from '../store/index.ts'
import { exportLines } from './export.ts'
import type { Head } from './head.ts'
import { type AuditKey, openAuditKey } from './key.ts'
import { openMemory } from './memory.ts'
import { recordAudit } from './record.ts'
import { createSealer } from './sealer.ts'
import { verifyExport } from './verify.ts'

const log = pino({ level: 'silent' })

test.each(STORES)(
  'no head of another key is deleted where a server was started without the setting of its key ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    const dir = mkdtempSync(join(tmpdir(), 'other-key-'))
    await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
    const inDatabase = await openAuditKey(store, undefined)
    const inFile = await openAuditKey(store, join(dir, 'key.pem'))
    const anchors: Head[] = []
    /** A start of the server with this key, and the file of its heads. */
    const start = (key: AuditKey, file: string) => {
      const sealer = createSealer(systemClock)
      const memory = openMemory({ file: join(dir, file), log })
      sealer.start({ store, key, log, memory, isAlone: true, onHead: (head) => anchors.push(head) })
      return sealer
    }
    const numbers = async () =>
      (await store.read(() => audit.headsUpTo.all({ after: 0, last: 100, limit: 100 }))).map(({ number }) => number)
    const write = () => store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now()))

    for (const [key, file] of [
      [inDatabase, 'record.head'],
      [inFile, 'key.pem.head'],
    ] as const) {
      await write()
      const sealer = start(key, file)
      await expect.poll(() => sealer.status.signed).toBeGreaterThan(0)
      await sealer.finish()
    }
    const before = await numbers()
    const without = start(inDatabase, 'record.head')
    await expect.poll(() => without.status.problem).toBeDefined()
    const named = new RegExp(`key ${inFile.publicKey}, and this server signs with ${inDatabase.publicKey}: is COUNTERSIGN_AUDIT_KEY_FILE`)
    expect(without.status.problem).toMatchObject({ kind: 'changed', why: expect.stringMatching(named) })
    await expect(without.accept({ id: 'prn_a' }, 'I restarted it')).rejects.toThrow(named)
    expect(await numbers()).toEqual(before)
    await without.finish()

    await write()
    const again = start(inFile, 'key.pem.head')
    await expect.poll(() => again.status.signed).toBeGreaterThan(0)
    expect(again.status.problem).toBeUndefined()
    await again.finish()
    const exported = await text(exportLines({ store, key: inFile, nowMs: Date.now() }))
    const keys = [inDatabase.publicKey, inFile.publicKey]
    expect(await verifyExport(exported.trimEnd().split('\n'), keys, { anchors })).toMatchObject({ problem: undefined })
    rmSync(dir, { recursive: true })
  },
)
