import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Action } from '@countersign/core'
import type { ScriptStep } from '../../../../packages/server/src/models/index.ts'
import { endDeadline } from '../../../testing/end-deadline.ts'
import type { TalkServer } from '../talk-server.ts'
import { refusalOfBeginning } from './check.ts'
import { cutAndReload } from './cut.ts'
import { type AgUiStream, openPage, type PagePlace, shownOf } from './page.ts'

interface Held {
  streams: AgUiStream[]
  problems: string[]
}

type Case = (server: TalkServer, counts: { cuts: number }) => Promise<Held>

const CALL = { tool: 'keyed', arguments: { what: 'x' } }
const SLOW = { reasoning: 'It wants to know what happens.', text: 'This is said one word after the other.', chunkDelayMs: 40 }
/** So many messages are more than a snapshot holds. */
const LONG = 110

const SCRIPTS: Record<string, ScriptStep[]> = {
  expired: [{ text: 'Soon.', calls: [{ tool: 'keyed', arguments: { what: 'brief' } }, CALL] }, { text: 'Too late.' }, { text: 'Yes?' }],
  failed: [{ text: 'It', error: 'the model is away' }, { text: 'Here again.' }, { text: 'And here.' }],
  'two tabs': [{ ...SLOW, calls: [CALL] }, SLOW],
  killed: [SLOW, { ...SLOW, calls: [CALL] }, SLOW, SLOW],
  long: Array.from({ length: LONG * 2 }, (_, n) =>
    n % 10 === 5 ? { calls: [{ tool: 'look', arguments: { what: 'x' } }] } : { text: `Answer ${n}.` },
  ),
}

/** The scripts of the agents of the cases, by the names of the agents. */
export const scriptsOfCases = (): Record<string, ScriptStep[]> =>
  Object.fromEntries(Object.entries(SCRIPTS).map(([name, steps]) => [agentOf(name), steps]))

const agentOf = (name: string) => `case-${name.replace(' ', '-')}`
const placeOf = ({ admin, key }: TalkServer, name: string): PagePlace => ({
  url: admin.url,
  key,
  agent: agentOf(name),
  thread: `case ${name}`,
})

/** The stream, those of pages that were cut in it, and what is wrong with these. */
async function withCuts(place: PagePlace, stream: AgUiStream, counts: { cuts: number }): Promise<Held> {
  const held: Held = { streams: [stream], problems: [] }
  for await (const { stream: again, problem } of cutAndReload(place, stream)) {
    counts.cuts++
    held.streams.push(again)
    if (problem !== undefined) held.problems.push(problem)
  }
  return held
}

const joined = (all: readonly Held[]): Held => ({
  streams: all.flatMap(({ streams }) => streams),
  problems: all.flatMap(({ problems }) => problems),
})

/** An action expires while its page shows it, and another one waits on. */
const expired: Case = async (server, counts) => {
  const place = placeOf(server, 'expired')
  const page = await openPage(place)
  page.say('Do it')
  const asked = await page.run()
  const brief = `${asked.interrupts[0]?.split('.')[0]}`
  // A deadline of a second may pass on a slow machine before the page shows the action.
  await endDeadline(server.database, brief)
  // A new deadline makes the server look for everything due.
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'soon' }, expiresIn: 'PT1S' })
  while (((await server.admin.get(`/api/actions/${brief}`)) as Action).state !== 'expired') await delay(50)
  const reloaded = await openPage(place, page.agent.messages)
  const later = await withCuts(place, await reloaded.run(), counts)
  const answers = page.agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' as const }))
  return joined([{ streams: [asked], problems: [] }, later, await withCuts(place, await page.run(answers), counts)])
}

/** The model fails in the middle of an answer, and the next message is answered. */
const failed: Case = async (server, counts) => {
  const place = placeOf(server, 'failed')
  const page = await openPage(place)
  page.say('Do it')
  const first = await withCuts(place, await page.run(), counts)
  page.say('And now?')
  return joined([first, await withCuts(place, await page.run(), counts)])
}

/** Further tabs are opened at each event of an open stream: all end with the same. */
const twoTabs: Case = async (server) => {
  const place = placeOf(server, 'two tabs')
  const page = await openPage(place)
  const tabs: Promise<AgUiStream>[] = []
  page.agent.subscribe({
    onEvent: () => void tabs.push(openPage(place, page.agent.messages).then((tab) => tab.run())),
  })
  page.say('Do it')
  const asked = await page.run()
  const others = await Promise.all(tabs)
  const wanted = shownOf(asked.after)
  const problems = others.flatMap(({ after }, at) =>
    isDeepStrictEqual(shownOf(after), wanted)
      ? []
      : [`the tab opened at event ${at} shows ${JSON.stringify(shownOf(after))}, not ${JSON.stringify(wanted)}`],
  )
  return { streams: [asked, ...others], problems }
}

/** The server is killed in the middle of an answer. What came is the beginning of a stream, and after a reload the page shows the whole answer. */
const killed: Case = async (server, counts) => {
  const held: Held = { streams: [], problems: [] }
  let page = await openPage(placeOf(server, 'killed'))
  for (const says of ['Do it', 'Again']) {
    const cut = Promise.withResolvers<void>()
    page.agent.subscribe({ onEvent: ({ event }) => void (event.type === 'TEXT_MESSAGE_CONTENT' && cut.resolve()) })
    page.say(says)
    const running = page.run()
    await cut.promise
    await server.restart()
    const problem = await refusalOfBeginning((await running).bytes)
    if (problem !== undefined) held.problems.push(problem)
    const place = placeOf(server, 'killed')
    page = await openPage(place, page.agent.messages)
    const { streams, problems } = await withCuts(place, await page.run(), counts)
    held.streams.push(...streams)
    held.problems.push(...problems)
  }
  return held
}

/** A conversation that is longer than a snapshot. */
const long: Case = async (server) => {
  const place = placeOf(server, 'long')
  const page = await openPage(place)
  const streams: AgUiStream[] = []
  for (let n = 0; n < LONG; n++) {
    page.say(n % 3 === 0 ? 'Go on' : `Question ${n}`)
    streams.push(await page.run())
  }
  const problems = page.agent.messages.length > 200 ? [] : [`it has ${page.agent.messages.length} messages only`]
  const late = await openPage(place)
  const told = await late.run()
  late.say('Go on')
  return { streams: [...streams, told, await late.run()], problems }
}

/** Conversations that the drawn ones do not have. */
export const CASES: Record<string, Case> = { expired, failed, 'two tabs': twoTabs, killed, long }
