import { linesOf } from '@countersign/toolkit/internal'
import { headOfLine, headsIn } from './memory.ts'
import type { Anchor } from './verify.ts'

/** Characters. A file record.head, which is one JSON object over several lines, has a tenth of this. */
const MAX_OBJECT = 64_000

/**
 * Returns the heads in a file: lines of heads as in an anchor file, or a file record.head. Read by lines: within months an anchor file gets longer
 * than a string can be. Lines that are no heads are left out.
 */
export async function anchorsIn(chunks: AsyncIterable<Uint8Array>): Promise<Anchor[]> {
  const anchors: Anchor[] = []
  let object = ''
  for await (const line of linesOf(chunks)) {
    const head = headOfLine(line)
    // Only what is compared, because there may be millions.
    if (head) anchors.push({ number: head.number, hash: head.hash, at: head.at })
    else if (object.length < MAX_OBJECT) object += `${line.slice(0, MAX_OBJECT)}\n`
  }
  return anchors.length > 0 ? anchors : headsIn(object)
}
