import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutTransactionTimeout } from './dump-settings.ts'

const BEFORE = '--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\n'
const LINE = 'SET transaction_timeout = 0;\n'
const AFTER = `SET client_encoding = 'UTF8';\n\nCOPY public.message (text) FROM stdin;\n${LINE}\\.\n`

const read = async (chunks: readonly Buffer[]) => (await buffer(Readable.from(chunks).pipe(withoutTransactionTimeout()))).toString()

/** Cuts a text into pieces. */
const pieces = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 6 }).map((cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), text.length]
    return places.slice(1).map((to, i) => Buffer.from(text.slice(places[i], to)))
  })

test('the setting that only newer databases know is taken out of the head of a script, and nothing out of its data', async () => {
  await fc.assert(
    fc.asyncProperty(pieces(BEFORE + LINE + AFTER), async (chunks) => {
      expect(await read(chunks)).toBe(`${BEFORE}\n${AFTER}`)
    }),
  )
})

test('a script without the setting passes unchanged, also an empty and a short one', async () => {
  for (const text of [BEFORE + AFTER, BEFORE, '']) expect(await read([Buffer.from(text)])).toBe(text)
  const large = `${BEFORE}${'-- a comment\n'.repeat(20_000)}`
  expect(await read([Buffer.from(large)])).toBe(large)
})
