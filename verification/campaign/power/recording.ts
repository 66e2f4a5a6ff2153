import { readFileSync } from 'node:fs'

/** One call that changes what is on the disk, or makes it durable. `ns` is of the clock of `process.hrtime`. */
export type DiskCall = { ns: bigint } & (
  | { kind: 'opened'; inode: bigint; path: string; isNew: boolean }
  | { kind: 'written'; inode: bigint; offset: number; data: Buffer }
  | { kind: 'truncated'; inode: bigint; length: number }
  /** A process that is killed leaves a sync that began and never ends. */
  | { kind: 'sync began' | 'synced' | 'sync failed'; inode: bigint; id: number }
  | { kind: 'renamed' | 'linked'; from: string; to: string }
  | { kind: 'unlinked' | 'made folder'; path: string }
)

const KINDS = [
  ...['', 'opened', 'written', 'truncated', 'sync began', 'synced', 'sync failed', 'renamed', 'unlinked', 'made folder', 'linked'],
] as const
const HEAD_BYTES = 32

/** Reads what the library of `disk-shim.c` recorded: for each call `{ u64 ns, inode, offset; u32 kind, length }` and its data. */
export function readRecording(file: string): DiskCall[] {
  const bytes = readFileSync(file)
  const calls: DiskCall[] = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const ns = bytes.readBigUInt64LE(at)
    const inode = bytes.readBigUInt64LE(at + 8)
    const offset = Number(bytes.readBigUInt64LE(at + 16))
    const kind = KINDS[bytes.readUInt32LE(at + 24)]
    const end = at + HEAD_BYTES + bytes.readUInt32LE(at + 28)
    calls.push(toCall({ ns, inode, offset, kind, data: bytes.subarray(at + HEAD_BYTES, end) }))
    at = end
  }
  return calls
}

interface RawCall {
  ns: bigint
  inode: bigint
  offset: number
  kind: string | undefined
  data: Buffer
}

function toCall({ ns, inode, offset, kind, data }: RawCall): DiskCall {
  switch (kind) {
    case 'opened':
      return { ns, kind, inode, path: data.toString(), isNew: offset === 1 }
    case 'written':
      return { ns, kind, inode, offset, data }
    case 'truncated':
      return { ns, kind, inode, length: offset }
    case 'sync began':
    case 'synced':
    case 'sync failed':
      return { ns, kind, inode, id: offset }
    case 'renamed':
    case 'linked': {
      const [from = '', to = ''] = data.toString().split('\0')
      return { ns, kind, from, to }
    }
    case 'unlinked':
    case 'made folder':
      return { ns, kind, path: data.toString() }
    default:
      throw new Error(`the recording has a call of unknown kind ${kind}`)
  }
}
