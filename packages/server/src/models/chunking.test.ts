import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { callsOf, collect, request, textOf } from './testing/collect.ts'
import { modelFor, recordings } from './testing/recordings.ts'
import { answerWith, startReplayServer } from './testing/replay-server.ts'

/** One recording of each API, with text beyond ASCII or several calls where available. */
const some = () => {
  const all = recordings(({ hasCalls }) => hasCalls).filter((each) => each.expected.finish === 'tool-calls')
  const groups = [...Map.groupBy(all, (each) => each.api).values()]
  return groups.flatMap((group) => {
    const wide = group.find(({ body }) => body.length < 40_000 && body.some((byte) => byte > 0x7f))
    const many = group.filter(({ body }) => body.length < 40_000).toSorted((a, b) => b.expected.calls.length - a.expected.calls.length)[0]
    return [...new Set([wide, many].filter((each) => each !== undefined))]
  })
}

test('calls and text do not depend on where the bytes were cut, also inside a character or a line end', async () => {
  await using server = await startReplayServer()
  const chosen = some()
  expect(chosen.length).toBeGreaterThanOrEqual(6)
  expect(chosen.some(({ body }) => body.some((byte) => byte > 0x7f))).toBe(true)
  for (const recording of chosen) {
    const play = async (cuts: readonly number[]) => {
      const { spec, settings } = modelFor(recording, server.play([answerWith(recording, cuts)]).baseUrl)
      const events = await collect(await openModel(spec, settings))
      return {
        text: textOf(events),
        calls: callsOf(events).map((call) => [call.key, call.name, call.argumentsText]),
        end: events.at(-1)?.type,
      }
    }
    const whole = await play([])
    expect(whole.end).toBe('finish')
    const inCharacters = [...recording.body.keys()].filter((index) => ((recording.body[index] ?? 0) & 0xc0) === 0x80).slice(0, 50)
    const inLineEnds = [...recording.body.keys()].filter((index) => recording.body[index] === 0x0a).slice(0, 50)
    expect(await play([...inCharacters, ...inLineEnds]), recording.file).toEqual(whole)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(recording.body.length), { maxLength: 60 }), async (cuts) => {
        expect(await play(cuts), recording.file).toEqual(whole)
      }),
      { numRuns: 15 },
    )
  }
})

test('the first words are told before the provider sends the last', async () => {
  await using server = await startReplayServer()
  const texts = recordings(({ hasCalls }) => !hasCalls).filter((each) => each.expected.finish === 'stop' && each.expected.text.length > 200)
  const oneOfEach = [...Map.groupBy(texts, (each) => each.api).values()].flatMap((group) => group.slice(0, 1))
  expect(oneOfEach).toHaveLength(4)
  for (const recording of oneOfEach) {
    const firstWords = Promise.withResolvers<void>()
    const half = Math.floor(recording.body.length / 2)
    const chunks = (async function* () {
      yield recording.body.subarray(0, half)
      await firstWords.promise
      yield recording.body.subarray(half)
    })()
    const { spec, settings } = modelFor(recording, server.play([{ ...answerWith(recording), chunks }]).baseUrl)
    let text = ''
    for await (const event of (await openModel(spec, settings)).stream(request())) {
      if (event.type !== 'text') continue
      text += event.delta
      firstWords.resolve()
    }
    expect(text, recording.file).toBe(recording.expected.text)
  }
})
