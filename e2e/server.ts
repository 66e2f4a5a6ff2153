import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test as base } from '@playwright/test'
import { readSignInFiles } from '../packages/server/src/identity/sign-in-file.ts'
import { mintLinkToken, signInLink } from '../packages/server/src/identity/sign-in-links.ts'
import { COMPILE_CACHE } from '../verification/testing/compile-cache.ts'
import { readAddress } from '../verification/testing/read-address.ts'
import { type Call, callWith } from './call.ts'
import { signInBrowser } from './demo.ts'

const MAIN = fileURLToPath(new URL('../packages/server/src/main.js', import.meta.url))
/** An admin's key on every server of this file. */
export const KEY = 'e2e-bootstrap-key-0123456789'

/** A request that reached the service: method, origin and key. */
interface Sent {
  path: string
  origin: string | undefined
  key: string | undefined
  body: unknown
}

/** A server with its own configuration in front of a service that behaves as badly as a test wants. */
export interface Desk {
  url: string
  /** The write requests that reached the service, in order. */
  sent: Sent[]
  /** `drop` takes what is sent and breaks the connection without an answer. */
  answers: 'well' | 'drop'
  call: Call
}

const INPUT = { type: 'object', required: ['what'], additionalProperties: false, properties: { what: { type: 'string', minLength: 1 } } }

const toolsAt = (baseUrl: string) => ({
  desk: {
    prefix: false,
    routes: {
      baseUrl,
      tools: {
        send: { method: 'POST', path: '/send', input: INPUT, describe: 'Send {what}' },
        sendHere: { method: 'POST', path: '/send-here', input: INPUT, describe: 'Send {what} from here', executor: 'client' },
      },
    },
  },
})

/**
 * A server with this configuration (an object, or the text of a module) on data in `folder`, in a process of its own. `link` signs the person
 * at this machine in.
 */
export async function startServer(
  folder: string,
  config: object | string,
  { flags = [], environment = {} }: { flags?: string[]; environment?: Record<string, string> } = {},
): Promise<{ url: string; link: string; end(signal?: NodeJS.Signals): Promise<void> }> {
  const configFile = join(folder, typeof config === 'string' ? 'countersign.config.ts' : 'countersign.json')
  writeFileSync(configFile, typeof config === 'string' ? config : JSON.stringify(config))
  const given = ['serve', '--config', configFile, '--data', join(folder, 'data'), '--no-open', '--log-level', 'error']
  const all = [...given, ...(flags.includes('--port') ? [] : ['--port', '0']), ...flags]
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...all], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, COUNTERSIGN_BOOTSTRAP_KEY: KEY, ...environment },
  })
  const ended = once(child, 'exit')
  const url = await readAddress(child)
  const [local] = readSignInFiles(join(folder, 'data'))
  return {
    url: local?.origin ?? url,
    link: local ? signInLink(local.origin, mintLinkToken(local.secret, Date.now())) : '',
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

export const test = base.extend<{ desk: Desk }>({
  desk: async ({ context }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-e2e-'))
    const sent: Sent[] = []
    const state: Pick<Desk, 'answers'> = { answers: 'well' }
    const service = createServer((request, response) => serve(request, response, sent, state)).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const { url, link, end } = await startServer(folder, { tools: toolsAt(`http://127.0.0.1:${(service.address() as AddressInfo).port}`) })
    await signInBrowser(context, link)
    await use(Object.assign(state, { url, sent, call: callWith(KEY, () => url) }))
    await end()
    service.closeAllConnections()
    service.close()
    await rm(folder, { recursive: true })
  },
})

/** Takes writes from pages of any origin, as a service that is called from browsers does. */
async function serve(request: IncomingMessage, response: ServerResponse, sent: Sent[], { answers }: Pick<Desk, 'answers'>): Promise<void> {
  const { origin } = request.headers
  const cors = origin
    ? {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': 'content-type, idempotency-key',
        'access-control-allow-methods': 'POST',
      }
    : {}
  if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end()
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const key = request.headers['idempotency-key']
  sent.push({ path: request.url ?? '', origin, key: Array.isArray(key) ? key[0] : key, body: JSON.parse(text || 'null') })
  if (answers === 'drop') return void request.socket.resetAndDestroy()
  response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end('{"ok":true}')
}
