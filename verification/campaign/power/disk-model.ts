import { dirname } from 'node:path'
import type { Random } from '../../simulation/random.ts'
import { createContent, type FileChange, type FileContent } from './file-content.ts'
import type { DiskCall } from './recording.ts'

/** A possible content of a disk after a power cut. */
export interface DiskImage {
  /** By path. */
  files: Map<string, Buffer>
  folders: string[]
  /** The number that the file system has for each file. */
  inodes: Map<string, bigint>
  /** Counts of the changes that were not durable and were lost. */
  lost: { changes: number; torn: number; names: number }
}

/** A disk that keeps only what it was told to keep, and of the rest whatever it likes. */
export interface DiskModel {
  take(call: DiskCall): void
  /** True while the power could cost something. */
  readonly isAtRisk: boolean
  cutPower(random: Random): DiskImage
}

export interface DiskModelOptions {
  /** For what a disk that failed has written of what it was to make durable. */
  random: Random
  /** Files and folders whose syncs are taken for nothing, as by code that forgot them. Default: none. */
  forgets?: (path: string) => boolean
}

interface File {
  inode: bigint
  durable: FileContent
  /** In their order. */
  pending: { change: FileChange; number: number }[]
  /** Which change was the last one when a sync began, by its id. */
  syncs: Map<number, number>
}

interface NameChange {
  folder: string
  /** Null takes the name away. */
  names: [path: string, node: File | 'folder' | null][]
}

export function createDiskModel({ random: ofFailures, forgets = () => false }: DiskModelOptions): DiskModel {
  const files = new Map<bigint, File>()
  const paths = new Map<bigint, string>()
  /** As the running system sees them. */
  const current = new Map<string, File | 'folder'>()
  const durable = new Map<string, File | 'folder'>()
  let pendingNames: NameChange[] = []
  let number = 0

  function name(names: NameChange['names'], path: string): void {
    pendingNames.push({ folder: dirname(path), names })
    apply(current, names)
  }

  function change(inode: bigint, what: FileChange): void {
    files.get(inode)?.pending.push({ change: what, number: ++number })
  }

  function makeDurable({ inode, id }: DiskCall & { kind: 'synced' | 'sync began' | 'sync failed' }): void {
    const path = paths.get(inode) ?? ''
    const file = files.get(inode)
    const began = file?.syncs.get(id) ?? 0
    if (forgets(path)) return
    if (file) {
      for (const { change: what } of file.pending.filter((pending) => pending.number <= began)) file.durable.apply(what)
      file.pending = file.pending.filter((pending) => pending.number > began)
      return
    }
    for (const { folder, names } of pendingNames) if (folder === path) apply(durable, names)
    pendingNames = pendingNames.filter(({ folder }) => folder !== path)
  }

  /** Linux marks pages that it failed to write as written: the next sync succeeds without them. */
  function fail(inode: bigint): void {
    const file = files.get(inode)
    if (!file) return
    for (const { change: what } of file.pending) file.durable.applyTorn(what, ofFailures)
    file.pending = []
  }

  function open({ inode, path, isNew }: DiskCall & { kind: 'opened' }): void {
    paths.set(inode, path)
    // A file system gives the number of a deleted file to the next one, also to a folder: its sync is of names then.
    if (current.get(path) === 'folder') files.delete(inode)
    if (!isNew) return
    const file: File = { inode, durable: createContent(), pending: [], syncs: new Map() }
    files.set(inode, file)
    name([[path, file]], path)
  }

  return {
    take(call) {
      switch (call.kind) {
        case 'opened':
          return open(call)
        case 'written':
          return change(call.inode, { offset: call.offset, data: call.data })
        case 'truncated':
          return change(call.inode, { length: call.length })
        case 'sync began':
          return void files.get(call.inode)?.syncs.set(call.id, number)
        case 'synced':
          return makeDurable(call)
        case 'sync failed':
          return fail(call.inode)
        case 'renamed':
        case 'linked': {
          const node = current.get(call.from) ?? null
          return name(
            call.kind === 'renamed'
              ? [
                  [call.from, null],
                  [call.to, node],
                ]
              : [[call.to, node]],
            call.to,
          )
        }
        case 'unlinked':
          return name([[call.path, null]], call.path)
        case 'made folder':
          return name([[call.path, 'folder']], call.path)
      }
    },
    get isAtRisk() {
      return pendingNames.length > 0 || [...current.values()].some((node) => node !== 'folder' && node.pending.length > 0)
    },
    cutPower(random) {
      const lost = { changes: 0, torn: 0, names: 0 }
      const keeps = random.pick([0, 0.1, 0.5, 0.9, 1])
      const tears = random.pick([0, 0.3, 0.6])
      const names = new Map(durable)
      for (const { names: changed } of pendingNames) {
        if (random.chance(keeps)) apply(names, changed)
        else lost.names++
      }
      const contentOf = ({ durable: kept, pending }: File): Buffer => {
        if (pending.length === 0) return kept.bytes
        const content = kept.copy()
        for (const { change: what } of pending) {
          if (random.chance(tears)) lost.torn += Number(content.applyTorn(what, random))
          else if (random.chance(keeps)) content.apply(what)
          else lost.changes++
        }
        return content.bytes
      }
      const folders = [...names].flatMap(([path, node]) => (node === 'folder' && hasFolders(path, names) ? [path] : []))
      const image = new Map<string, Buffer>()
      const inodes = new Map<string, bigint>()
      for (const [path, node] of names) {
        if (node === 'folder' || !hasFolders(path, names)) continue
        image.set(path, contentOf(node))
        inodes.set(path, node.inode)
      }
      return { files: image, folders, inodes, lost }
    },
  }

  /** A folder that nothing was recorded about was there before. */
  function hasFolders(path: string, names: ReadonlyMap<string, File | 'folder'>): boolean {
    const folder = dirname(path)
    if (folder === path || !current.has(folder)) return true
    return names.has(folder) && hasFolders(folder, names)
  }
}

function apply(to: Map<string, File | 'folder'>, names: NameChange['names']): void {
  for (const [path, node] of names) {
    if (node === null) to.delete(path)
    else to.set(path, node)
  }
}
