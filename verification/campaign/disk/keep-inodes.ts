import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FilePlace, placeOf } from '../../../packages/server/src/instance/witness.ts'

/**
 * Corrects the inode numbers in the witness file of a copied data folder, so that a server takes the copy for the folder itself: there the
 * files keep their numbers. A number that was wrong there stays wrong.
 * @param inodes Of the files that were copied, by path.
 * @param at Where a path was copied to.
 */
export function keepInodes(inodes: ReadonlyMap<string, bigint>, witnessPath: string, at: (path: string) => string): void {
  const bytes = readFileSync(at(witnessPath))
  const head = bytes.toString('utf8', 0, HALF_BYTES)
  if (head.trim() === '' || head.includes('\0')) return
  const witness = JSON.parse(head)
  if (witness.files === null) return
  const moved = (place: FilePlace, path: string): FilePlace =>
    place.inode === String(inodes.get(path)) ? { ...placeOf(at(path)), born: null } : place
  const files = {
    witness: moved(witness.files.witness, witnessPath),
    database: moved(witness.files.database, join(dirname(witnessPath), 'countersign.db')),
  }
  const corrected = Buffer.from(JSON.stringify({ ...witness, files }).padEnd(HALF_BYTES))
  writeFileSync(at(witnessPath), Buffer.concat([corrected, bytes.subarray(HALF_BYTES)]))
}

/** The first half of the file is the witness, the second the newest row of the record. */
const HALF_BYTES = 512
