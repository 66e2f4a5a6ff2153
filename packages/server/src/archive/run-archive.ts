import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { checkpoint } from '@countersign/toolkit/internal'
import { makeDurableFolder } from '../durable-files.ts'
import { giveNamedToOwner } from '../private-files.ts'
import { type ArchiveFileRow, archive, type EventRow, events, type Store, seen, settings, type Tx } from '../store/index.ts'
import { type Batch, collect, emptyBatch, type Progress } from './collect.ts'
import { type FileEnd, type FileHead, FORMAT, hashOf, NO_HASH, sealLine } from './line.ts'
import { listedIn, manifestName, writeManifest } from './manifest.ts'
import { type WrittenFile, writeCompressed } from './write-file.ts'

const fromTheStart = (): Progress => ({ sessionsAfter: '', rowsAfter: 0 })

/** How often a batch may turn out to have changed before the run gives up. */
const MAX_TRIES = 10

export interface ArchiveOptions {
  store: Store
  /** Created when missing. */
  folder: string
  /** Only rows that were settled before this, epoch ms. */
  before: number
  nowMs(): number
  /** Called with the number of rows that this run has written, after each. */
  onRow?(rows: number): void
  /** Called with every file as it is finished. */
  onFile(file: FinishedFile): void
  /** Ends the run after the current file; the next run continues there. */
  signal?: AbortSignal
}

export interface FinishedFile extends WrittenFile {
  name: string
  sessions: number
  rows: number
}

/** The archived rows changed meanwhile: nothing was taken out of the log. */
class Changed extends Error {}

/**
 * Moves the events of settled sessions, and of settled actions without a session, out of the log into compressed files. Each file is on
 * disk before the transaction that removes its rows; after a crash at any point, the next run continues without losing or duplicating a
 * row.
 * @returns The files of this run.
 * @throws Error when nothing is left of what earlier runs wrote to the folder; nothing was moved then.
 */
export async function runArchive(options: ArchiveOptions): Promise<FinishedFile[]> {
  const { store, before, nowMs, onFile } = options
  const folder = resolve(options.folder)
  const database = await databaseId(store)
  await requireOwnFiles(store, folder)
  const isNew = !existsSync(folder)
  makeDurableFolder(folder)
  if (isNew) giveNamedToOwner(folder)
  await clearLeftovers(store, database)
  await writeManifest(store, folder, database)
  const finished: FinishedFile[] = []
  let written = 0
  async function* counting(rows: AsyncGenerator<EventRow>): AsyncGenerator<EventRow> {
    for await (const row of rows) {
      yield row
      options.onRow?.(++written)
    }
  }
  let progress = fromTheStart()
  for (let tries = 0; !options.signal?.aborted; ) {
    const batch = emptyBatch()
    const rows = collect(store, before, batch, progress)
    const first = await rows.next()
    if (batch.sessions.length + batch.alone.length === 0) return finished
    try {
      const file = await archiveBatch({ store, folder, database, nowMs }, batch, counting(startingWith(first, rows)))
      finished.push(file)
      onFile(file)
      tries = 0
    } catch (error) {
      if (!(error instanceof Changed) || ++tries === MAX_TRIES) throw error
      progress = fromTheStart()
    }
    await writeManifest(store, folder, database)
    checkpoint('archive.after_manifest')
  }
  return finished
}

/**
 * Old files may be moved elsewhere, but not all of them and the manifest: then the disk is probably not mounted, and what is written now
 * would be hidden by it later.
 * @param folder An absolute path.
 * @throws Error when nothing is left of what was written to the folder.
 */
export async function requireOwnFiles(store: Store, folder: string): Promise<void> {
  const database = await databaseId(store)
  const known = await store.read(() => archive.listFiles.all({}))
  const names = known.flatMap((file) => (file.folder === folder && file.sha256 !== null ? [file.name] : []))
  const last = names.at(-1)
  if (last === undefined || [manifestName(database), ...names].some((name) => existsSync(join(folder, name)))) return
  throw new Error(
    `${folder} has neither the manifest nor any of the files that were written there, such as ${last}: mount its disk, put the files back, or archive into another folder. Nothing was moved`,
  )
}

async function* startingWith(first: IteratorResult<EventRow>, rest: AsyncGenerator<EventRow>): AsyncGenerator<EventRow> {
  if (first.done) return
  yield first.value
  yield* rest
}

type Place = Pick<ArchiveOptions, 'store' | 'folder' | 'nowMs'> & { database: string }

async function archiveBatch(
  { store, folder, database, nowMs }: Place,
  batch: Batch,
  rows: AsyncGenerator<EventRow>,
): Promise<FinishedFile> {
  checkpoint('archive.before_begin')
  const known = await store.read(() => archive.listFiles.all({}))
  const last = known.at(-1)
  const number = (last?.number ?? 0) + 1
  const name = `${filePrefix(database)}${String(number).padStart(6, '0')}-${randomBytes(4).toString('hex')}.jsonl.gz`
  await store.transact(() => archive.insertFile.run({ number, folder, name, now: nowMs() }))
  checkpoint('archive.begun')
  const chain = { hash: last?.head ?? NO_HASH }
  const head: FileHead = { format: FORMAT, database, file: number, previous: chain.hash, archivedAt: new Date(nowMs()).toISOString() }
  const written = await writeCompressed(join(folder, name), linesOf(head, rows, batch, chain))
  checkpoint('archive.before_store')
  const file = {
    number,
    name,
    head: chain.hash,
    ...written,
    row_count: batch.rows,
    last_event: Math.max(batch.lastEvent, last?.last_event ?? 0),
  }
  try {
    await store.transact(() => takeOut(batch, file, nowMs()))
  } catch (error) {
    if (error instanceof Changed) await forget(store, { number, folder, name })
    throw error
  }
  checkpoint('archive.after_store')
  return { name, sessions: batch.sessions.length, rows: batch.rows, ...written }
}

const filePrefix = (database: string): string => `countersign-${database}-`

/** @param chain Its hash is that of the previous line, and is advanced. */
async function* linesOf(head: FileHead, rows: AsyncIterable<EventRow>, batch: Batch, chain: { hash: string }): AsyncGenerator<string> {
  const seal = (body: string): string => {
    chain.hash = hashOf(chain.hash, body)
    return `${sealLine(chain.hash, body)}\n`
  }
  yield seal(JSON.stringify(head))
  for await (const row of rows) yield seal(bodyOf(row))
  const end: FileEnd = { end: true, rows: batch.rows, sessions: batch.sessions.length }
  yield seal(JSON.stringify(end))
}

/** Returns a row of the log: its events are `[number in the session, type, data]`. */
const bodyOf = (row: EventRow): string =>
  `{"id":${row.id},"sessionId":${JSON.stringify(row.session_id)},"at":"${new Date(row.created_at).toISOString()}","events":${events.eventsJson(row)}}`

/** Removes the rows of a written file from the log, unless they have changed since they were read. */
function* takeOut({ sessions, actions, alone }: Batch, file: Parameters<typeof archive.finishFile.change>[0], now: number): Tx<void> {
  checkpoint('archive.storing')
  for (const { session, to, rows } of sessions) {
    const { id, archived_seq: from } = session
    if (!(yield* archive.moveSession.change({ ...session, to, now }))) throw new Changed()
    if ((yield* archive.deleteSessionRows.change({ session_id: id, from, to })) !== rows) throw new Changed()
    if (to !== session.last_seq) continue
    yield* archive.archiveActionsOf.run({ session_id: id, now })
    yield* seen.forgetSeenIn.run({ session_id: id })
  }
  for (const { id, updated_at, redacted_at } of actions.values()) {
    if (!(yield* archive.archiveAction.change({ id, updated_at, redacted_at, now }))) throw new Changed()
    yield* seen.forgetSeen.run({ action_id: id })
  }
  for (const id of alone) if (!(yield* archive.deleteRow.change({ id }))) throw new Changed()
  if (!(yield* archive.finishFile.change(file))) throw new Error('another archive run took over; run this one again')
}

/** Deletes the unfinished file of an interrupted run: its rows are still in the log. */
async function clearLeftovers(store: Store, database: string): Promise<void> {
  const known = await store.read(() => archive.listFiles.all({}))
  for (const file of known) {
    if (file.sha256 !== null) continue
    // In a backup that was made during a run the file is unfinished, while the original finished it and has its rows nowhere else.
    const listed = (await listedIn(file.folder, database)).some(({ name }) => name === file.name)
    await forget(store, file, { isKept: listed })
  }
}

async function forget(
  store: Store,
  { number, folder, name }: Pick<ArchiveFileRow, 'number' | 'folder' | 'name'>,
  { isKept = false } = {},
): Promise<void> {
  const paths = isKept ? [] : [join(folder, name), `${join(folder, name)}.partial`]
  for (const path of paths) await rm(path, { force: true })
  checkpoint('archive.before_forget')
  await store.transact(() => archive.forgetFile.run({ number, name }))
}

const ID_SETTING = 'archive.database'

/** Distinguishes the files of this database from those of others in the same folder. */
async function databaseId(store: Store): Promise<string> {
  await store.transact(() => settings.insertSetting.run({ name: ID_SETTING, value: randomBytes(4).toString('hex') }))
  const found = await store.read(() => settings.findSetting.first({ name: ID_SETTING }))
  return found?.value ?? ''
}
