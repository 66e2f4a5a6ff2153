import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A write to a file, or a sync of it that has ended. */
export interface FileCall {
  kind: 'write' | 'sync'
  path: string
  /** True for a write whose data holds the text that was looked for. */
  isTagged: boolean
  /** When it ended, epoch ms. */
  atMs: number
}

const SYNCS = ['fsync', 'fdatasync']
const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2']

export const canTrace = (): boolean => spawnSync('strace', ['-V']).status === 0

/** Longer than any write of a page or of a record that is looked for. */
const DATA_LIMIT = 100_000

/** Reads the output of `strace -f -y -ttt`: a call that another thread interrupts is on two lines. */
export function readTrace(text: string, tag: string): FileCall[] {
  const calls: FileCall[] = []
  const open = new Map<string, { name: string; path: string; isTagged: boolean }>()
  for (const line of text.split('\n')) {
    const [, thread = '', seconds, rest = ''] = /^(?:\[pid\s+)?(\d+)?\]?\s*(\d+\.\d+) (.*)$/.exec(line) ?? []
    if (seconds === undefined) continue
    const begun = /^(\w+)\(\d+<([^>]+)>/.exec(rest)
    const resumed = /^<\.\.\. (\w+) resumed>/.test(rest)
    if (begun) open.set(thread, { name: begun[1] ?? '', path: begun[2] ?? '', isTagged: rest.includes(tag) })
    if (rest.endsWith('<unfinished ...>') || (!begun && !resumed)) continue
    const call = open.get(thread)
    open.delete(thread)
    if (!call) continue
    const { name, path, isTagged } = call
    calls.push({ kind: SYNCS.includes(name) ? 'sync' : 'write', path, isTagged, atMs: Number(seconds) * 1000 })
  }
  return calls
}

export interface TraceTarget {
  pids: readonly number[]
  folder: string
  /** The text to look for in the data that is written. */
  tag: string
}

/** Watches with strace which files of a folder the processes write and sync while `work` runs. */
export async function traceFiles({ pids, folder, tag }: TraceTarget, work: () => Promise<void>): Promise<FileCall[]> {
  const out = mkdtempSync(join(tmpdir(), 'countersign-strace-'))
  const file = join(out, 'trace')
  const what = ['-f', '-y', '-ttt', '-s', String(DATA_LIMIT), '-e', `trace=${[...SYNCS, ...WRITES].join(',')}`]
  const child = spawn('strace', [...what, '-o', file, ...pids.flatMap((pid) => ['-p', String(pid)])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  try {
    let said = ''
    for await (const chunk of child.stderr) {
      said += chunk
      if (said.split('attached').length > pids.length) break
    }
    if (!said.includes('attached')) throw new Error(`strace did not attach: ${said.trim()}`)
    await work()
  } finally {
    child.kill('SIGINT')
    await ended
  }
  const text = readFileSync(file, 'utf8')
  rmSync(out, { recursive: true })
  return readTrace(text, tag).filter(({ path }) => path.startsWith(folder))
}

/** The paths that got a tagged write until `atMs`: those with a sync after the last one of these, and those without. */
export function syncedFiles(calls: readonly FileCall[], atMs: number): { synced: string[]; unsynced: string[] } {
  const isSynced = new Map<string, boolean>()
  for (const { kind, path, isTagged, atMs: at } of calls) {
    if (at > atMs) continue
    if (kind === 'write' && isTagged) isSynced.set(path, false)
    if (kind === 'sync' && isSynced.has(path)) isSynced.set(path, true)
  }
  const paths = (wanted: boolean) => [...isSynced].filter(([, is]) => is === wanted).map(([path]) => path)
  return { synced: paths(true), unsynced: paths(false) }
}
