import { isDeepStrictEqual } from 'node:util'
import type { AgUiMessage } from '../../../testing/ag-ui-agent.ts'
import { type AgUiStream, BLANK_LINE, openPage, type PagePlace, replay, shownOf } from './page.ts'

/** Pages that read an answer up to each of its events, and one that has nothing, run again: they show what the page shows that read all. */
export async function* cutAndReload(
  place: PagePlace,
  stream: AgUiStream,
): AsyncGenerator<{ stream: AgUiStream; problem: string | undefined }> {
  const tried = new Set<string>()
  for (const [at, held] of [...(await heldAfterEach(stream)), []].entries()) {
    const text = JSON.stringify(held)
    if (tried.has(text)) continue
    tried.add(text)
    const again = await (await openPage(place, held)).run()
    const [shown, wanted] = [again, stream].map(({ after, interrupts }) => [...shownOf(after), interrupts.toSorted()])
    const differs = wanted?.findIndex((one, place) => !isDeepStrictEqual(one, shown?.[place])) ?? 0
    const isSame = isDeepStrictEqual(shown, wanted)
    const problem = `cut after event ${at} and run again, the page shows ${JSON.stringify(shown?.slice(differs))}, not ${JSON.stringify(wanted?.slice(differs))}`
    yield { stream: again, problem: isSame ? undefined : problem }
  }
}

/** The messages of a page that lost its connection after each event. */
async function heldAfterEach({ before, bytes }: AgUiStream): Promise<AgUiMessage[][]> {
  const held: AgUiMessage[][] = []
  for (let end = bytes.indexOf(BLANK_LINE); end !== -1; end = bytes.indexOf(BLANK_LINE, end + 1)) {
    held.push(await replay(before, [bytes.subarray(0, end + BLANK_LINE.length)]))
  }
  return held
}
