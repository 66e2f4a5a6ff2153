import { constants } from 'node:buffer'
import { expect, test } from 'vitest'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { anchorsIn } from './anchors-in.ts'
import { createTally, makeHead } from './head.ts'
import { openAuditKey } from './key.ts'
import { anchorLine } from './memory.ts'

test('an anchor file that is longer than a string can be is read, by lines', async () => {
  await using temp = await openTempSqlite()
  const key = await openAuditKey(temp.store, undefined)
  const tally = createTally()
  tally.add({ id: 1, at: 1, hash: 'x', follows: null })
  const first = makeHead(tally, { before: undefined }, key, 1)
  const last = makeHead(createTally(), { before: first }, key, 2)
  const other = Buffer.from(`${'x'.repeat(99_999)}\n`.repeat(10))
  async function* chunks() {
    yield Buffer.from(anchorLine(first))
    for (let length = 0; length <= constants.MAX_STRING_LENGTH; length += other.length) yield other
    // The first half of a line may come before the other.
    yield Buffer.from(anchorLine(last).slice(0, 100))
    yield Buffer.from(anchorLine(last).slice(100))
  }
  expect(await anchorsIn(chunks())).toEqual([first, last].map(({ number, hash, at }) => ({ number, hash, at })))
})
