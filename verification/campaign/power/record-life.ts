import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ChildServer, startChildServer } from '../../testing/child-server.ts'
import { COMPILE_CACHE } from '../../testing/compile-cache.ts'
import { type DiskFault, shimEnvironment } from '../disk/disk-shim.ts'
import { openWorkload, type Witness } from '../disk/workload.ts'
import { type DiskCall, readRecording } from './recording.ts'

const ARCHIVE_PROCESS = fileURLToPath(new URL('../../../packages/server/src/archive/testing/archive-process.ts', import.meta.url))
const run = promisify(execFile)

/** The disk calls of servers on one data folder, and the observations of them from outside. */
export interface Recording {
  calls: DiskCall[]
  witness: Witness
  /** Everything recorded lies below it. */
  root: string
  dataDir: string
  archiveDir: string
  keyFile: string
}

export interface RecordOptions {
  /** An empty folder. */
  folder: string
  /** Actions per step. */
  actions: number
  /** The fault of the first server's disk; the server is then started again. Default: no fault. */
  fault?: DiskFault
}

export const makeRecordFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'countersign-power-')))

/**
 * Records the life of a data folder: made by a server that is killed with -9, gone on with by a second one, with the
 * archive beside it, which stops in peace, and by a third one that is killed.
 */
export async function recordLife({ folder, actions, fault }: RecordOptions): Promise<Recording> {
  const root = join(folder, 'disk')
  const log = join(folder, 'calls')
  // The folder for the data is made by the server, with the one above it.
  const dataDir = join(root, 'countersign', 'data')
  const archiveDir = join(root, 'archive')
  const keyFile = join(root, 'audit.pem')
  mkdirSync(root)
  await using workload = await openWorkload(folder)
  const { configFile, witness } = workload
  const start = (failing?: DiskFault): Promise<ChildServer> =>
    startChildServer({
      configFile,
      dataDir,
      environment: { COUNTERSIGN_AUDIT_KEY_FILE: keyFile, ...shimEnvironment({ folder: root, log, ...(failing && { fault: failing }) }) },
    })
  const work = async ({ admin }: ChildServer) => {
    for (let i = 0; i < 3; i++) {
      await workload.propose(admin, actions)
      await workload.decide(admin)
    }
  }

  // A disk may fail before the server listens.
  const first = await start(fault).catch((error) => {
    if (!fault) throw error
    return undefined
  })
  if (first) await work(first)
  // A kill in the middle of a call would record a call that did not happen. An action that hit a disk fault never settles.
  if (first && !fault) await workload.settle(first.admin)
  await first?.kill()

  const second = await start()
  await work(second)
  await workload.settle(second.admin)
  await run(
    process.execPath,
    ['--conditions=countersign-source', ARCHIVE_PROCESS, JSON.stringify({ kind: 'sqlite', dataDir }), archiveDir],
    { env: { ...COMPILE_CACHE, ...shimEnvironment({ folder: root, log }) } },
  )
  await work(second)
  await second.stop()

  const third = await start()
  await work(third)
  await third.kill()
  return { calls: readRecording(log), witness, root, dataDir, archiveDir, keyFile }
}
