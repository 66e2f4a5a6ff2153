import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../verification/testing/free-port.ts'
import type { Place, System } from '../adapter.ts'
import { receiveEffects } from '../effect-receiver.ts'
import { startGuarded, WORKFLOW_LEASE } from '../guarded.ts'

const FOLDER = import.meta.dirname
const NITRO = join(FOLDER, 'node_modules', 'nitro', 'dist', 'cli', 'index.mjs')
const SERVER = join(FOLDER, '.output', 'server', 'index.mjs')

/** The server in `server/` with the workflow in `workflows/`, built once after the installation. */
function build(): void {
  if (existsSync(SERVER)) return
  const { status, stderr } = spawnSync(process.execPath, [NITRO, 'build'], { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`nitro build ended with ${status}: ${stderr.slice(-500)}`)
}

/** The built server with its default storage, which is in the folder that it runs in. */
export async function open(place: Place): Promise<System> {
  build()
  const effects = await receiveEffects(place)
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const server = await startGuarded([process.execPath, SERVER], {
    cwd: place.folder,
    env: { HOST: '127.0.0.1', PORT: port, PEERS_EFFECTS_URL: effects.url, ...WORKFLOW_LEASE },
    health: [`${url}/health`],
  })
  const ask = async (path: string, options?: RequestInit): Promise<string> => {
    const answer = await fetch(`${url}/sessions${path}`, options)
    if (!answer.ok) throw new Error(`the server answered ${answer.status}: ${await answer.text()}`)
    return await answer.text()
  }
  const finish = (sessionId: string): Promise<string> => ask(`/${sessionId}/answer`)
  return {
    writers: [server.pid],
    start: (message) => ask('', { method: 'POST', body: message }),
    async decide(sessionId, verdicts) {
      await ask(`/${sessionId}/decision`, { method: 'POST', body: JSON.stringify(verdicts) })
    },
    finish,
    async recover(sessionId) {
      await finish(sessionId)
      return 'the run continued by itself'
    },
    async close() {
      effects.close()
      await server.stop()
    },
  }
}
