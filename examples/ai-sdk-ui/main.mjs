// Starts Countersign, and a page with the AI SDK's useChat: npm run example:ai-sdk-ui. With the front end of another example as argument, its page.
import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const { startFrontEnd } = await import(process.argv[2] ?? './front-end.mjs')
const { PAGE_PORT = '4470', COUNTERSIGN_PORT = '4471', DATA = join(import.meta.dirname, '.countersign') } = process.env
const MAIN = join(import.meta.dirname, '../../packages/server/src/main.js')
const NODE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN]
const countersign = `http://127.0.0.1:${COUNTERSIGN_PORT}`

const config = join(import.meta.dirname, 'countersign.yaml')
const flags = ['--config', config, '--data', DATA, '--port', COUNTERSIGN_PORT, '--no-open', '--log-level', 'warn']
const server = spawn(process.execPath, [...NODE, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
// The page ends when Countersign has stopped.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.kill('SIGTERM'))
server.once('exit', (code) => process.exit(code ?? 1))
let said = ''
await new Promise((resolve) => {
  server.stdout.on('data', (chunk) => {
    said += chunk
    if (/ready at /.test(said)) resolve()
  })
})

/** The operator of the server creates the key. A real page keeps it among the secrets of its server. */
const ana = ['--name', 'Ana', '--kind', 'person', '--role', 'approver', '--scope', 'propose', '--scope', 'decide']
const { stdout } = await promisify(execFile)(process.execPath, [...NODE, 'key', 'create', '--data', DATA, '--expires-in', 'P1D', ...ana])
const frontEnd = await startFrontEnd({ port: Number(PAGE_PORT), countersign, key: stdout.trim() })
console.log(`The page is at ${frontEnd.url}, Countersign at ${countersign}`)
console.log(said.trim())
