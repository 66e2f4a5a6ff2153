import type { TalksOptions } from '../ai-sdk-talks.ts'
import { drawTalks } from '../drawn-talk.ts'
import { startTalkServer } from '../talk-server.ts'
import { breakAll } from './break.ts'
import { CASES, scriptsOfCases } from './cases.ts'
import { type AgUiCounts, checkAgUiStream } from './check.ts'
import type { AgUiStream } from './page.ts'
import { talkAsAgUi } from './talk.ts'

export interface AgUiReport {
  figures: AgUiCounts & { talks: number; cases: number; broken: number }
  violations: string[]
  missing: string[]
}

/** Holds drawn conversations and the special cases with the client of AG-UI, and all that it is sent against what its packages prescribe. */
export async function runAgUiTalks({ seed, talks, environment = {}, isOver, say }: TalksOptions): Promise<AgUiReport> {
  const drawn = drawTalks(seed, talks)
  await using server = await startTalkServer({ talks: drawn, agents: scriptsOfCases(), environment })
  const figures = { talks: 0, cases: 0, streams: 0, events: 0, cuts: 0, broken: 0 }
  const violations: string[] = []
  const streams: AgUiStream[] = []

  async function check(name: string, found: { streams: AgUiStream[]; problems: string[] }): Promise<void> {
    const problems = [...found.problems]
    for (const stream of found.streams) problems.push(...(await checkAgUiStream(stream, figures)))
    violations.push(...problems.map((words) => `seed ${seed}, ${name}, AG-UI: ${words}`))
    streams.push(...found.streams)
  }

  for (const [name, hold] of Object.entries(CASES)) {
    await check(name, await hold(server, figures))
    figures.cases++
  }
  say(`clients: ${figures.cases} cases of AG-UI, ${figures.streams} streams, ${violations.length} violations`)
  for (const [at, turns] of drawn.entries()) {
    if (isOver()) break
    const agent = `talk-${at}`
    await check(agent, await talkAsAgUi({ admin: server.admin, key: server.key, agent, turns, counts: figures }))
    figures.talks++
  }
  say(`clients: ${figures.talks} conversations of AG-UI, ${figures.events} events, ${figures.cuts} cuts, ${violations.length} violations`)
  const { broken, accepted, never } = await breakAll(streams)
  figures.broken = broken
  violations.push(...accepted.map((words) => `seed ${seed}, AG-UI: ${words}`))
  say(`clients: ${broken} broken streams of AG-UI, ${accepted.length} accepted`)
  return { figures, violations, missing: never.map((name) => `no stream of AG-UI could be broken like this: ${name}`) }
}
