import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { replaceDurableFile } from '../durable-files.ts'
import type { RecordProblem } from './compare.ts'
import type { Head } from './head.ts'
import { headFields, headLine, readHead } from './line.ts'

const FORMAT = 'countersign-head/1'

/** The data that is kept outside the database, beside the key: the newest head, and a detected problem. */
interface Kept {
  format: typeof FORMAT
  /** Since when heads have been remembered without a break, in epoch ms, and the number of the first of them. */
  since: number
  from: number
  head: Head
  problem?: RecordProblem | undefined
}

/** The newest head that this process knows to be signed. The database cannot change it. */
export interface HeadMemory {
  readonly head: Head | undefined
  /** Undefined until the first head. */
  readonly since: number | undefined
  readonly from: number | undefined
  /** `file`: it survives restarts. */
  readonly place: 'file' | 'process'
  /** A problem that was detected before a restart. */
  readonly problem: RecordProblem | undefined
  /** True when the file existed but could not be read. */
  readonly isUnreadable: boolean
  /** Stores a head that is newer than the remembered one, or that was compared with it. */
  remember(head: Head, nowMs: number): void
  /** Starts again with this head after an earlier memory was lost. */
  beginAnew(head: Head, nowMs: number): void
  keepProblem(problem: RecordProblem | undefined): void
}

export interface MemoryOptions {
  /** Undefined remembers as long as the process runs. */
  file: string | undefined
  /** Heads that were stored elsewhere, such as the anchor's: the newest of all is remembered. */
  others?: readonly Head[]
  log: Logger
}

/** Opens the memory of heads. A file that cannot be read or written does not prevent a start. */
export function openMemory({ file, others = [], log }: MemoryOptions): HeadMemory {
  const found = file === undefined ? undefined : readKept(file)
  let kept: Omit<Kept, 'format'> | undefined = found === 'unreadable' ? undefined : found
  for (const head of others) {
    if (head.number > (kept?.head.number ?? 0)) kept = { since: head.at, from: head.number, ...kept, head }
  }
  let written = found === 'unreadable' ? undefined : found?.head

  function write(): void {
    if (file === undefined || !kept) return
    const now = readKept(file)
    if (now === undefined && written) log.warn({ file, head: written.number }, 'record.head_file_missing')
    if (now && now !== 'unreadable') {
      // Several processes may share the file: the newest head is kept.
      if (now.head.number > kept.head.number && !kept.problem) return
      if (written && now.head.number < written.number)
        log.warn({ file, found: now.head.number, head: written.number }, 'record.head_file_stale')
    }
    try {
      replaceDurableFile(file, textOf({ format: FORMAT, ...kept }))
      written = kept.head
    } catch (error) {
      log.error({ error, file }, 'record.head_file_write_failed')
    }
  }

  return {
    get head() {
      return kept?.head
    },
    get since() {
      return kept?.since
    },
    get from() {
      return kept?.from
    },
    get problem() {
      return kept?.problem
    },
    place: file === undefined ? 'process' : 'file',
    isUnreadable: found === 'unreadable',
    remember(head, nowMs) {
      if (kept?.head.hash === head.hash && written?.hash === head.hash) return
      kept = { since: nowMs, from: head.number, ...kept, head }
      write()
    },
    beginAnew(head, nowMs) {
      kept = { since: nowMs, from: head.number, head }
      write()
    },
    keepProblem(problem) {
      if (!kept || kept.problem?.why === problem?.why) return
      kept = { ...kept, problem }
      write()
    },
  }
}

function textOf({ head, ...kept }: Kept): string {
  return `${JSON.stringify({ ...kept, head: headFields(head) }, undefined, 2)}\n`
}

/** Reads a memory file; undefined when it does not exist. */
function readKept(file: string): Kept | undefined | 'unreadable' {
  try {
    const said = JSON.parse(readFileSync(file, 'utf8'))
    const head = readHead(JSON.stringify({ head: said.head }))
    if (said.format !== FORMAT || !head) return 'unreadable'
    const { since, from, problem } = said
    return { format: FORMAT, since, from, head, problem }
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? undefined : 'unreadable'
  }
}

/** Returns the head in a line of an anchor file; undefined for any other line. */
export const headOfLine = (line: string): Head | undefined => (line.startsWith('{"head"') ? readHead(line) : undefined)

/** Returns the heads in a text: a memory file, or lines of heads as in an anchor file. Invalid lines are left out. */
export function headsIn(text: string): Head[] {
  const lines = text.split('\n').flatMap((line) => headOfLine(line) ?? [])
  if (lines.length > 0) return lines
  try {
    const said = JSON.parse(text)
    const head = readHead(JSON.stringify({ head: said.head }))
    return head ? [head] : []
  } catch {
    return []
  }
}

/** Formats a head as one line of an anchor file. */
export const anchorLine = (head: Head): string => `${headLine(head)}\n`
