import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { createDatabase, startPostgres } from '../verification/testing/postgres.ts'
import { forkServer } from './fork-server.ts'
import type { Order } from './over-http-process.ts'
import { statsOf } from './stats.ts'

const KEY = 'the-key-of-the-benchmarks'
/** Gated turns of a session. */
const TURNS = 10

export interface OverHttpOptions {
  inFlight: number
  /** In each round, once in the server's process and once over HTTP. */
  cycles: number
  rounds: number
  /** Default: the embedded database. */
  database?: 'postgres'
}

interface Measured {
  seconds: number
  cycleMs: number[]
}

/**
 * Measures how many gated cycles a second a client makes over HTTP, as a share of those that the same server makes in its own process, in
 * rounds that take turns. The client posts the message, reads the session's event stream, posts the decision, and reads until the run is
 * done; it has a process of its own and shares the machine with the server.
 */
export async function benchOverHttp({ inFlight, cycles, rounds, database }: OverHttpOptions) {
  await using postgres = database === 'postgres' ? await startPostgres() : undefined
  const databaseUrl = postgres && (await createDatabase(postgres.url('postgres')))
  const options = JSON.stringify({ key: KEY, turns: TURNS, databaseUrl })
  const server = await forkServer<Order>('./over-http-process.ts', [options])
  const client = createClient(server.url)
  const inProcess: Measured[] = []
  const overHttp: Measured[] = []
  // The first round warms both up.
  for (let round = 0; round <= rounds; round++) {
    const alone = (await server.ask({ do: 'cycles', inFlight, cycles })) as Measured
    const through = await runOverHttp(client, inFlight, cycles)
    if (round === 0) continue
    inProcess.push(alone)
    overHttp.push(through)
  }
  const cpuBefore = Number(await server.ask({ do: 'cpu' }))
  const counted = await runOverHttp(client, inFlight, cycles)
  const serverCpuMs = (Number(await server.ask({ do: 'cpu' })) - cpuBefore) / counted.cycleMs.length
  client.close()
  await server.end({ do: 'end' })
  const [alone, through] = [figuresOf(inProcess), figuresOf(overHttp)]
  return {
    inFlight,
    inProcess: alone,
    overHttp: { ...through, serverCpuMsPerCycle: Number(serverCpuMs.toFixed(2)) },
    share: Number((through.cyclesPerSecond / alone.cyclesPerSecond).toFixed(2)),
  }
}

function figuresOf(rounds: readonly Measured[]) {
  const times = rounds.flatMap(({ cycleMs }) => cycleMs)
  const seconds = rounds.reduce((sum, round) => sum + round.seconds, 0)
  return { cyclesPerSecond: Math.round(times.length / seconds), cycleMs: statsOf(times) }
}

type Client = ReturnType<typeof createClient>

/** A client with connections that stay open. */
function createClient(url: string) {
  const agent = new Agent({ keepAlive: true })
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const send = async (method: string, path: string, body?: unknown): Promise<IncomingMessage> => {
    const sent = request(`${url}${path}`, { method, agent, headers })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.setEncoding('utf8')
    return response
  }
  return {
    async post(path: string, body: unknown): Promise<unknown> {
      const response = await send('POST', path, body)
      let text = ''
      for await (const chunk of response) text += chunk
      if ((response.statusCode ?? 500) >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`)
      return JSON.parse(text)
    },
    stream: (path: string): Promise<IncomingMessage> => send('GET', path),
    close: () => agent.destroy(),
  }
}

/** Follows a session as a client does: reads its event stream, and waits for a proposal and for the end of a run. */
async function follow(client: Client, sessionId: string) {
  const stream = await client.stream(`/api/sessions/${sessionId}/events`)
  let onAsk = (_actionId: string) => {}
  let onDone = () => {}
  let rest = ''
  stream.on('data', (chunk: string) => {
    const events = (rest + chunk).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      if (event.includes('event: done')) onDone()
      if (!event.includes('event: action_proposed')) continue
      const data = event.split('\n').find((line) => line.startsWith('data: '))
      onAsk(JSON.parse(data?.slice(6) ?? '{}').proposal.id)
    }
  })
  return {
    asked: () => new Promise<string>((resolve) => (onAsk = resolve)),
    done: () => new Promise<void>((resolve) => (onDone = resolve)),
    stop: () => stream.destroy(),
  }
}

async function runOverHttp(client: Client, inFlight: number, cycles: number): Promise<Measured> {
  const cycleMs: number[] = []
  const worker = async (count: number) => {
    for (let left = count; left > 0; ) {
      const { id } = (await client.post('/api/sessions', {})) as { id: string }
      const followed = await follow(client, id)
      for (let turn = 0; turn < TURNS && left > 0; turn++, left--) {
        const begin = performance.now()
        const asked = followed.asked()
        await client.post(`/api/sessions/${id}/messages`, { content: 'mark ORD-001 as processing' })
        const actionId = await asked
        const done = followed.done()
        await client.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
        await done
        cycleMs.push(performance.now() - begin)
      }
      followed.stop()
    }
  }
  const begin = performance.now()
  await Promise.all(Array.from({ length: inFlight }, () => worker(Math.ceil(cycles / inFlight))))
  return { seconds: (performance.now() - begin) / 1000, cycleMs }
}
