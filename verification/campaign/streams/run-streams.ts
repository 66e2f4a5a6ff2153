import { isDeepStrictEqual } from 'node:util'
import { type Random, seededRandom } from '../../simulation/random.ts'
import type { ApiClient } from '../../testing/api-client.ts'
import { stateByApi } from '../../testing/api-state.ts'
import type { ReadEvent } from '../../testing/event-reader.ts'
import { fold } from '../../testing/fold.ts'
import { type CutCounts, openCutReader } from './cut-reader.ts'
import { ROUNDS } from './setup.ts'

export interface StreamsOptions {
  seed: number
  /** How many readers are cut. */
  clients: number
  /** Default one for 25 readers. */
  sessions?: number
  /** One for each server of the database, as a person who may decide; set up as `streamsSetup` says. */
  servers: readonly ApiClient[]
  /** Headers of such a person. */
  headers: Record<string, string>
}

export interface StreamsReport extends CutCounts {
  clients: number
  sessions: number
  /** That the readers have got, all together. */
  events: number
}

/** Pieces give way to their message: who comes later is not told them. */
const PIECES = new Set(['delta', 'reasoning_delta', 'tool_call_start'])

/**
 * People talk and decide while many readers follow, whose connections break at random bytes. Afterwards each of them has read every event
 * that the log holds, once and in order, and knows what the API says.
 * @throws Error that names the seed and the first difference.
 */
export async function runStreams({
  seed,
  clients,
  servers,
  headers,
  sessions = Math.ceil(clients / 25),
}: StreamsOptions): Promise<StreamsReport> {
  const urls = servers.map(({ url }) => url)
  const report: StreamsReport = { clients, sessions, events: 0, connections: 0, insideEvent: 0, insideMessage: 0 }

  async function oneSession(number: number): Promise<void> {
    const own = seededRandom(seed * 1_000 + number)
    const { id } = await own.pick(servers).post('/api/sessions', {})
    const path = `/api/sessions/${id}/events`
    const count = Math.floor(clients / sessions) + (number < clients % sessions ? 1 : 0)
    const readers = Array.from({ length: count }, (_, i) =>
      openCutReader({ random: seededRandom(seed * 1_000_000 + number * 1_000 + i), urls, path, headers }),
    )
    await talk(own, servers, id)
    const api = own.pick(servers)
    const { lastSeq } = await api.get(`/api/sessions/${id}`)
    await Promise.all(readers.map((reader) => reader.readUpTo(lastSeq)))
    const log = await readLog(api, path, lastSeq)
    const truth = await stateByApi(api, id)
    for (const [i, { events, counts }] of readers.entries()) {
      const problem = problemOf(events, log, truth)
      if (problem) throw new Error(`seed ${seed}, session ${number}, reader ${i}: ${problem}`)
      report.events += events.length
      report.connections += counts.connections
      report.insideEvent += counts.insideEvent
      report.insideMessage += counts.insideMessage
    }
  }

  await Promise.all(Array.from({ length: sessions }, (_, number) => oneSession(number)))
  return report
}

/** Posts a message in every round and decides the actions that wait then. */
async function talk(random: Random, servers: readonly ApiClient[], sessionId: string): Promise<void> {
  const path = `/api/sessions/${sessionId}`
  using watching = await random.pick(servers).stream(`${path}/events`)
  for (let round = 0; round < ROUNDS; round++) {
    await random.pick(servers).post(`${path}/messages`, { content: `round ${round}` })
    const { pendingApprovals } = await watching.next('session_status', (data) => data.pendingApprovals.length === 2)
    for (const actionId of pendingApprovals) {
      const verdict = random.chance(0.7) ? 'approve' : 'decline'
      await random.pick(servers).post(`/api/actions/${actionId}/decision`, { verdict })
    }
    await watching.next('done')
  }
}

/** The whole log, read in one go. */
async function readLog(api: ApiClient, path: string, lastSeq: number): Promise<ReadEvent[]> {
  using stream = await api.stream(path)
  while (stream.seen.at(-1)?.id !== lastSeq) await stream.arrival()
  return [...stream.seen]
}

function problemOf(events: readonly ReadEvent[], log: readonly ReadEvent[], truth: ReturnType<typeof fold>): string | undefined {
  for (const [i, { id }] of events.entries()) {
    if (id === undefined || id <= (events[i - 1]?.id ?? 0)) return `event ${id} came after event ${events[i - 1]?.id}`
  }
  const lasting = events.filter(({ type }) => !PIECES.has(type))
  for (const [i, event] of log.entries()) {
    if (!isDeepStrictEqual(lasting[i], event)) return `event ${event.id} is missing or another: ${JSON.stringify(lasting[i])}`
  }
  if (lasting.length > log.length) return `event ${lasting[log.length]?.id} is not in the log`
  return isDeepStrictEqual(fold(events), truth) ? undefined : 'what it knows is not what the API says'
}
