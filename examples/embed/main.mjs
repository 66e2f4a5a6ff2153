// Starts Countersign and the portal, each at an origin of its own: npm run example:embed
import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPortal } from './portal.mjs'

const { PORTAL_PORT = '4460', COUNTERSIGN_PORT = '4461', DATA = join(import.meta.dirname, '.countersign') } = process.env
const MAIN = join(import.meta.dirname, '../../packages/server/src/main.js')
const NODE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN]
const env = { ...process.env, PORTAL_URL: `http://127.0.0.1:${PORTAL_PORT}` }
const countersign = `http://127.0.0.1:${COUNTERSIGN_PORT}`

const flags = [
  '--config',
  join(import.meta.dirname, 'countersign.yaml'),
  '--data',
  DATA,
  '--port',
  COUNTERSIGN_PORT,
  '--no-open',
  '--log-level',
  'warn',
]
const server = spawn(process.execPath, [...NODE, 'serve', ...flags], { env, stdio: ['ignore', 'pipe', 'inherit'] })
// The portal ends when Countersign has stopped.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.kill('SIGTERM'))
server.once('exit', (code) => process.exit(code ?? 1))
await new Promise((resolve) => {
  let text = ''
  server.stdout.on('data', (chunk) => {
    text += chunk
    if (/ready at /.test(text)) resolve()
  })
})

/** The operator of the server creates the keys. A real portal keeps its key among its secrets. */
async function makeKey(...args) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...NODE, 'key', 'create', '--data', DATA, '--expires-in', 'P1D', ...args],
    { env },
  )
  return stdout.trim()
}
const embed = ['--kind', 'service', '--scope', 'embed', '--embed-role', 'approver', '--embed-role', 'viewer']
const embedKey = await makeKey('--name', 'portal', ...embed)
const agentKey = await makeKey('--name', 'planner', '--kind', 'agent')
const portal = await startPortal({ port: Number(PORTAL_PORT), countersign, embedKey, agentKey })
console.log(`The portal is at ${portal.url}, Countersign at ${countersign}`)
