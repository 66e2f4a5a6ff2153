import { expect, test } from 'vitest'
import { openProgress } from './progress.ts'

test('a command says how far it is every two seconds, and nothing when it ends sooner', () => {
  const written: string[] = []
  let now = 0
  const report = openProgress({ out: { isTTY: true, write: (text) => written.push(text) > 0 }, nowMs: () => now })
  for (now = 0; now < 2_000; now += 100) report(() => 'too soon')
  expect(written).toEqual([])
  for (now = 2_000; now <= 6_500; now += 100) report(() => `${now} ms`)
  expect(written).toEqual(['2000 ms\n', '4000 ms\n', '6000 ms\n'])
  report(() => 'a long step', true)
  expect(written.at(-1)).toBe('a long step\n')
})

test('only a terminal is told, and no command that prints JSON', () => {
  const written: string[] = []
  const write = (text: string) => written.push(text) > 0
  for (const options of [{ out: { write } }, { out: { write, isTTY: false } }, { json: true, out: { write, isTTY: true } }])
    openProgress(options)(() => 'half', true)
  expect(written).toEqual([])
})
