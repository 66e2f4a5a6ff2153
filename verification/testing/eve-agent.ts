import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { counterpart } from './counterparts.ts'
import { freePort } from './free-port.ts'
import type { GateServer, openLedger } from './gate-server.ts'

const PROJECT = fileURLToPath(new URL('../../scripts/counterparts/eve/', import.meta.url))

export interface EveCall {
  name: 'readOrder' | 'setStatus' | 'setStatusByEve'
  input: Record<string, string>
  /** Default: another one each time that the model is asked. */
  id?: string
}

/** The members of eve's client that the tests use. It is a program of others for tests only, so its types are not here. */
interface EveClient {
  sessions: {
    create(options: { message: string }): Promise<{ session: { state: { sessionId: string } } }>
    attach(id: string, options: { streamIndex: number }): EveSession
  }
}
interface EveSession {
  stream(): AsyncIterable<EveEvent>
  respond(answers: { requestId: string; optionId: string }[]): Promise<unknown>
}
interface EveEvent {
  type: string
  data?: { message?: string | null; requests?: { requestId: string }[] }
}

/** Builds the agent in `scripts/counterparts/eve` with the package's own command. */
export function buildEve(): void {
  const command = [counterpart('eve/bin/eve.js'), 'build', '--skip-sandbox-prewarm']
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: PROJECT, encoding: 'utf8' })
  if (status !== 0) throw new Error(`eve build ended with ${status}: ${stdout}${stderr}`)
}

/** Does the work of the tools in the process of the test. */
async function openWork(ledger: ReturnType<typeof openLedger>) {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const args = JSON.parse(text)
    const result = request.url === '/readOrder' ? await ledger.readOrder(args) : await ledger.setStatus(args)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The built agent in a process of its own, on its default storage, with its tools behind the gate of `desk`. */
export async function startEve(desk: GateServer, ledger: ReturnType<typeof openLedger>, environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-eve-'))
  for (const part of ['package.json', '.output']) await cp(join(PROJECT, part), join(folder, part), { recursive: true })
  const work = await openWork(ledger)
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [join('.output', 'server', 'index.mjs')], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ...{ HOST: '127.0.0.1', PORT: port },
        // A setting of its documentation: how long a step counts as running after its process was killed. The default is 860 s.
        WORKFLOW_INLINE_OWNERSHIP_LEASE_SECONDS: '5',
        ...{ COUNTERSIGN_URL: desk.server.url, COUNTERSIGN_KEY: desk.key, WORK_URL: work.url },
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await expect.poll(async () => (await fetch(`${url}/eve/v1/health`).catch(() => undefined))?.ok).toBe(true)
    return child
  }
  const kill = async (): Promise<void> => {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  let child = await start()
  const { Client } = (await import(pathToFileURL(counterpart('eve/dist/src/client/index.js')).href)) as {
    Client: new (options: { host: string }) => EveClient
  }
  const client = new Client({ host: url })
  return {
    /** Begins a session whose model makes this call; resolves with its id. */
    async begin(call: EveCall): Promise<string> {
      const { session } = await client.sessions.create({ message: JSON.stringify([call]) })
      return session.state.sessionId
    },
    /** What the model was told of its calls, once the turn is complete. */
    async toldIn(sessionId: string): Promise<{ id: string; output: unknown; isError: boolean }[]> {
      let said = ''
      for await (const { type, data } of client.sessions.attach(sessionId, { streamIndex: 0 }).stream()) {
        if (type === 'message.completed' && data?.message) said = data.message
        if (type === 'turn.completed') break
        if (type === 'turn.failed') throw new Error(`the turn failed: ${JSON.stringify(data)}`)
      }
      return JSON.parse(said)
    },
    /** Approves the call that eve itself asks about. */
    async approve(sessionId: string): Promise<void> {
      const session = client.sessions.attach(sessionId, { streamIndex: 0 })
      for await (const { type, data } of session.stream()) {
        if (type !== 'input.requested') continue
        await session.respond((data?.requests ?? []).map(({ requestId }) => ({ requestId, optionId: 'approve' })))
        return
      }
    },
    async crashAndRestart(): Promise<void> {
      await kill()
      child = await start()
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await work[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
