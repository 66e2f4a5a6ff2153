import { copyFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import { databaseFile } from '../store/index.ts'
import { type Guard, openGuard } from './index.ts'

const MINUTE_MS = 60_000

/** A data folder whose server can be started, and ends without a stop. */
async function openPlace() {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const dataDir = folder.path
  const { store, committed, [Symbol.asyncDispose]: close } = await openTempSqlite(dataDir)
  onTestFinished(close)
  const clock = manualClock()
  const start = (on = store) =>
    openGuard({
      ...{ store: on, clock, database: { kind: 'sqlite', dataDir }, log: pino({ level: 'silent' }) },
      settings: { hold: false, acceptCopy: false, file: undefined, token: undefined },
    })
  const commit = async (guard: Guard) => {
    await store.transact((outbox) => recordAudit(outbox, { kind: 'held', actor: SYSTEM, data: { why: 'a row' } }, clock.nowMs()))
    for (const outbox of committed.splice(0)) guard.note(outbox)
  }
  /** Ends the server, whose folder has changed since its last commit. */
  const stop = async (guard: Guard, change: () => void) => {
    await close()
    change()
    guard.close()
  }
  return { dataDir, clock, start, commit, stop, instance: join(dataDir, 'instance') }
}

test('after a kill, a copy of the instance file that is a minute old is known when it is written into the file', async () => {
  const { dataDir, clock, start, commit, instance } = await openPlace()
  const killed = await start()
  onTestFinished(() => killed.close())
  await commit(killed)
  copyFileSync(instance, join(dataDir, 'copy'))
  clock.pass(MINUTE_MS)
  await commit(killed)
  copyFileSync(join(dataDir, 'copy'), instance)
  const held = await start()
  onTestFinished(() => held.close())
  expect(held.held?.why).toContain('copy')
})

test('another file in the place of the database is not vouched for by the server that stops', async () => {
  const { dataDir, start, commit, stop } = await openPlace()
  const guard = await start()
  await commit(guard)
  const file = databaseFile(dataDir)
  await stop(guard, () => {
    copyFileSync(file, `${file}.other`)
    renameSync(`${file}.other`, file)
  })
  await using next = await openTempSqlite(dataDir)
  const held = await start(next.store)
  onTestFinished(() => held.close())
  expect(held.held?.why).toContain('not the one')
})

test('a stop makes the instance file anew when something was committed, and the next start is not held', async () => {
  const { start, commit, instance } = await openPlace()
  const guard = await start()
  await commit(guard)
  const { ino } = statSync(instance)
  guard.close()
  expect(statSync(instance).ino).not.toBe(ino)
  const again = await start()
  again.close()
  expect(again.held).toBe(undefined)
})
