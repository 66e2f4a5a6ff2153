import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'eve/client'
import { freePort } from '../../../verification/testing/free-port.ts'
import type { Place, System, Verdicts } from '../adapter.ts'
import { receiveEffects } from '../effect-receiver.ts'
import { startGuarded, WORKFLOW_LEASE } from '../guarded.ts'

const FOLDER = import.meta.dirname
const EVE = join(FOLDER, 'node_modules', 'eve', 'bin', 'eve.js')

/** The agent in `agent/`, built once after the installation. */
function build(): void {
  if (existsSync(join(FOLDER, '.output', 'server', 'index.mjs'))) return
  const { status, stderr } = spawnSync(process.execPath, [EVE, 'build', '--skip-sandbox-prewarm'], { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`eve build ended with ${status}: ${stderr.slice(-500)}`)
}

/** The port is kept with the data: after a restart the server has its old address, as behind a proxy. */
async function choosePort(file: string): Promise<string> {
  if (!existsSync(file)) writeFileSync(file, String(await freePort()))
  return readFileSync(file, 'utf8')
}

/** The facts with which an approver answers from another process: the session, its requests by order, and the cursor of its events. */
interface Link {
  id: string
  streamIndex: number
  requests: Record<string, string>
}

/**
 * The built server with its default storage, and the client of the package. It is started without `eve start`, whose process only starts
 * another one: what a probe kills has to be the server.
 */
export async function open(place: Place): Promise<System> {
  build()
  const effects = await receiveEffects(place)
  const port = await choosePort(join(place.folder, 'port'))
  const url = `http://127.0.0.1:${port}`
  // The folder it runs in is where its default storage goes.
  for (const part of ['package.json', 'agent', '.output']) cpSync(join(FOLDER, part), join(place.folder, part), { recursive: true })
  const server = await startGuarded([process.execPath, join('.output', 'server', 'index.mjs')], {
    cwd: place.folder,
    env: { HOST: '127.0.0.1', PORT: port, PEERS_EFFECTS_URL: effects.url, ...WORKFLOW_LEASE },
    health: [`${url}/eve/v1/health`],
  })
  const client = new Client({ host: url })
  const answers = new Map<string, Promise<{ message: string | undefined }>>()
  const attach = ({ id, streamIndex }: Link) => client.sessions.attach(id, { streamIndex })
  return {
    writers: [server.pid],
    async start(message) {
      const { session, response } = await client.sessions.create({ message })
      const { inputRequests } = await response.result()
      const requests = inputRequests.map(({ requestId, action }) => [String(action?.input.orderId), requestId])
      const { sessionId, streamIndex } = session.state
      return JSON.stringify({ id: sessionId, streamIndex, requests: Object.fromEntries(requests) } satisfies Link)
    },
    async decide(sessionId: string, verdicts: Verdicts) {
      const link = JSON.parse(sessionId) as Link
      const responses = Object.entries(verdicts).map(([order, verdict]) => ({
        requestId: link.requests[order] ?? '',
        optionId: verdict === 'approve' ? 'approve' : 'cancel',
      }))
      const response = await attach(link).respond(responses)
      if (!answers.has(sessionId)) answers.set(sessionId, response.result())
    },
    async finish(sessionId) {
      return (await answers.get(sessionId))?.message ?? ''
    },
    async recover(sessionId) {
      for await (const event of attach(JSON.parse(sessionId) as Link).stream()) {
        if (event.type === 'turn.completed') return 'the session continued by itself'
        if (event.type === 'turn.failed') return 'the turn failed by itself'
      }
      return 'the session ended'
    },
    async close() {
      effects.close()
      await server.stop()
    },
  }
}
