import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { archive, type Store } from '../store/index.ts'
import { FORMAT } from './line.ts'
import { writeWhole } from './write-file.ts'

const Manifest = z.object({
  format: z.literal(FORMAT),
  database: z.string(),
  files: z.array(
    z.object({
      file: z.int(),
      name: z.string(),
      sha256: z.string(),
      bytes: z.int(),
      rows: z.int(),
      /** The hash of its last line. */
      head: z.string(),
    }),
  ),
})
export type Manifest = z.infer<typeof Manifest>

export const manifestName = (database: string): string => `countersign-${database}.manifest.json`

/**
 * Writes a list of a database's files in a folder, with their hashes, from the database's rows. Files that only the list names stay in it:
 * they were moved here with their folder, or written by a copy of the database, or after the backup that was restored.
 */
export async function writeManifest(store: Store, folder: string, database: string): Promise<void> {
  const known = await store.read(() => archive.listFiles.all({}))
  const own = known.flatMap(({ number: file, folder: where, name, sha256, bytes, row_count: rows, head }) =>
    where === folder && sha256 !== null && bytes !== null && rows !== null && head !== null
      ? [{ file, name, sha256, bytes, rows, head }]
      : [],
  )
  if (own.length === 0) return
  const names = new Set(own.map(({ name }) => name))
  const others = (await listedIn(folder, database)).filter(({ name }) => !names.has(name))
  const files = [...others, ...own].sort((a, b) => a.file - b.file)
  const manifest: Manifest = { format: FORMAT, database, files }
  await writeWhole(join(folder, manifestName(database)), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Returns the files that the manifest in a folder lists; none where it does not exist or is damaged, because then it is written anew. */
export async function listedIn(folder: string, database: string): Promise<Manifest['files']> {
  const manifest = await readManifest(folder, database).catch((error: unknown) => {
    // A manifest that cannot be read may be a good one.
    if (error instanceof Error && 'code' in error) throw error
  })
  return manifest?.files ?? []
}

/** Returns the manifest of a database's files in a folder; undefined when it does not exist. @throws Error when it is invalid. */
export async function readManifest(folder: string, database: string): Promise<Manifest | undefined> {
  const path = join(folder, manifestName(database))
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const parsed = Manifest.safeParse(JSON.parse(text))
  if (!parsed.success) throw new Error(`${path} is not a manifest of the archive`)
  return parsed.data
}
