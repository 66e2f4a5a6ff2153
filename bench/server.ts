import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readAddress } from '../verification/testing/read-address.ts'
import type { BenchDatabase } from './database.ts'

const MAIN = fileURLToPath(new URL('../packages/server/src/main.js', import.meta.url))
/** An admin's key on every server of a benchmark. */
export const KEY = 'the-key-of-the-benchmarks'

/** Begins a service that the one tool of the configuration calls; tells when each call arrived. */
export async function startTarget() {
  const arrivals = new Map<string, () => void>()
  const server = createServer((request, response) => {
    arrivals.get(String(request.headers['idempotency-key']))?.()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, close: () => server.close() }
}

/** A server of its own process, as people start it. */
export async function startServer(configFile: string, database: BenchDatabase) {
  const begin = performance.now()
  const flags = ['serve', '--config', configFile, '--port', '0', '--no-open', '--log-level', 'error', ...database.flags]
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { COUNTERSIGN_BOOTSTRAP_KEY: KEY },
  })
  const url = await readAddress(child)
  const call = async (path: string, body?: unknown, key = KEY) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  await call('/readyz')
  return {
    url,
    startMs: Math.round(performance.now() - begin),
    call,
    /** Processor time that the process has used, in ms (a tick of the kernel is 10 ms). */
    cpuMs: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** The one tool of the configuration, of the service at `targetUrl`. */
export function toolsFor(targetUrl: string) {
  const tool = {
    method: 'POST',
    path: '/things',
    input: { type: 'object', required: ['what'], properties: { what: { type: 'string' } } },
    describe: 'Do {what}',
    idempotent: true,
  }
  return { desk: { prefix: false, routes: { baseUrl: targetUrl, tools: { act: tool } } } }
}

/** Writes the configuration of a server with this tool, and returns the file. */
export function writeServerConfig(folder: string, targetUrl: string, policy?: object): string {
  const configFile = join(folder, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsFor(targetUrl), ...(policy && { policy }) }))
  return configFile
}
