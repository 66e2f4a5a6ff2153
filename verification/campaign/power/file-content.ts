import type { Random } from '../../simulation/random.ts'

/** A change to one file that the disk has or has not. */
export type FileChange = { offset: number; data: Buffer } | { length: number }

/** The bytes of a file, which grow. */
export interface FileContent {
  readonly bytes: Buffer
  apply(change: FileChange): void
  /** Applies only some sectors of a change. Answers whether some were left out. */
  applyTorn(change: FileChange, random: Random): boolean
  copy(): FileContent
}

/** Sizes that a disk writes as a whole: 512 bytes on some, 4 KiB on others. */
const SECTORS = [512, 4096] as const

export function createContent(start: Buffer = Buffer.alloc(0)): FileContent {
  let room = start
  let size = start.length

  function resize(length: number): void {
    if (length > room.length) room = Buffer.concat([room.subarray(0, size)], Math.max(length, room.length * 2))
    if (length > size) room.fill(0, size, length)
    size = length
  }

  function put(offset: number, data: Buffer): void {
    if (offset + data.length > size) resize(offset + data.length)
    data.copy(room, offset)
  }

  return {
    get bytes() {
      return room.subarray(0, size)
    },
    apply(change) {
      if ('length' in change) resize(change.length)
      else put(change.offset, change.data)
    },
    applyTorn(change, random) {
      if ('length' in change) return false
      const { offset, data } = change
      const sector = random.pick(SECTORS)
      // The length of a file is written apart from its bytes: it may be there with zeros where they would stand.
      if (offset + data.length > size && random.chance(0.5)) resize(offset + data.length)
      let isTorn = false
      for (let from = offset; from < offset + data.length; ) {
        const to = Math.min(offset + data.length, (Math.floor(from / sector) + 1) * sector)
        if (random.chance(0.5)) put(from, data.subarray(from - offset, to - offset))
        else isTorn = true
        from = to
      }
      return isTorn
    },
    copy: () => createContent(Buffer.from(room.subarray(0, size))),
  }
}
