import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { type EventRow, events } from '../../../packages/server/src/store/index.ts'
import { checkData } from '../disk/check-data.ts'
import { keepInodes } from '../disk/keep-inodes.ts'
import { checkStart } from './check-start.ts'
import type { DiskImage } from './disk-model.ts'
import type { Recording } from './record-life.ts'

/** Puts an image into an empty folder, as the disk would be found after the power came back. */
export function placeImage({ files, folders, inodes }: DiskImage, root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const at = (path: string) => join(folder, relative(root, path))
  for (const path of [...folders].sort()) mkdirSync(at(path), { recursive: true })
  for (const [path, bytes] of files) {
    // The shared memory of a WAL is never made durable: its file may have any content.
    writeFileSync(at(path), path.endsWith('-shm') ? Buffer.alloc(32_768, 0xa5) : bytes)
  }
  for (const path of files.keys()) if (basename(path) === 'instance') keepInodes(inodes, path, at)
}

/** A sentence for each thing that a client or a target has seen before `untilNs` and an image, placed in `folder`, does not hold. */
export async function checkImage(recording: Recording, folder: string, untilNs: bigint | undefined): Promise<string[]> {
  const { witness, root, dataDir, archiveDir, keyFile } = recording
  const at = (path: string) => join(folder, relative(root, path))
  const answered = witness.proposed.filter(({ ns }) => untilNs === undefined || ns < untilNs)
  // A loss of power takes nothing that was answered: whoever comes back after one is neither turned away nor held.
  const refusal = await checkStart(at(dataDir))
  const problems = [...(refusal === undefined ? [] : [refusal]), ...(await checkData(at(dataDir), witness, untilNs))]
  if (problems.length > 0) return problems
  if (answered.length > 0 && !isPrivateKey(at(keyFile))) problems.push('the key of the record is gone or cut off')
  if (!existsSync(join(at(dataDir), 'countersign.db'))) return problems
  return [...problems, ...checkEvents(at(dataDir), at(archiveDir), answered)]
}

const isPrivateKey = (file: string): boolean =>
  existsSync(file) && /^-----BEGIN PRIVATE KEY-----[\s\S]+-----END PRIVATE KEY-----\n$/.test(readFileSync(file, 'utf8'))

/** Every accepted proposal is in the log or in a whole file of the archive. */
function checkEvents(dataDir: string, archiveDir: string, answered: Recording['witness']['proposed']): string[] {
  if (answered.length === 0) return []
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    const rows = db.prepare('select * from event').all() as unknown as EventRow[]
    const texts = rows.map(events.eventsJson)
    const problems: string[] = []
    for (const { folder, name, sha256 } of db.prepare('select folder, name, sha256 from archive_file where sha256 is not null').all()) {
      const file = join(archiveDir, String(name))
      const isThere = basename(String(folder)) === basename(archiveDir) && dirname(file) === archiveDir && existsSync(file)
      const bytes = isThere ? readFileSync(file) : Buffer.alloc(0)
      if (createHash('sha256').update(bytes).digest('hex') === sha256) texts.push(gunzipSync(bytes).toString())
      else problems.push(`the archive's file ${name} is gone or cut off, and its rows are no longer in the log`)
    }
    const all = texts.join('\n')
    return [...problems, ...answered.filter(({ id }) => !all.includes(id)).map(({ what }) => `the events of ${what} are gone`)]
  } finally {
    db.close()
  }
}
