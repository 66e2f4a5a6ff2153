import type { Action } from '@countersign/core'
import { onTestFinished } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { freePort } from '../testing/free-port.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

export type Policy = Exclude<ConfigInput['policy'], undefined>

/** A server with tools for coding agents, the key of one, and folders for it. It keeps its address when it restarts. */
export interface Fixture {
  server: TestServer
  key: string
  home: string
  project: string
  /** Runs `countersign connect` for this home. @throws Error when it fails. */
  connect(...args: string[]): Promise<void>
  /** Resolves with the action that waits, once there is exactly one. */
  waiting(): Promise<Action>
  decide(action: Action, body: object): Promise<void>
  /** Resolves with the action once it is settled. */
  settled(action: Action): Promise<Action>
  actions(): Promise<Action[]>
}

/** @param policy Default: every call is asked about. */
export async function startFixture(policy: Policy = { rules: [] }): Promise<Fixture> {
  const config = { tools: { host: { 'coding-agent': {} } }, policy }
  const server = await startTestServer({ config, flags: { port: await freePort() } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const [home, project] = [temporaryFolder(), temporaryFolder()]
  onTestFinished(() => {
    home[Symbol.dispose]()
    project[Symbol.dispose]()
  })
  const { key } = await server.makeKey({ name: 'coder', kind: 'agent', agent: 'coder', roles: ['agent'] })
  return {
    server,
    key,
    home: home.path,
    project: project.path,
    async connect(...args) {
      const environment = { HOME: home.path, PATH: process.env.PATH ?? '', COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key }
      const { code, stdout, stderr } = await runCommandLine(['connect', ...args, '--yes'], environment)
      if (code !== 0) throw new Error(`connect failed: ${stdout}${stderr}`)
    },
    waiting: () => waiting(server),
    async decide(action, body) {
      await decide(server, action, body)
    },
    settled: ({ id }) => server.admin.get(`/api/actions/${id}?wait=60&until=settled`),
    actions: async () => (await server.admin.get('/api/actions')).items,
  }
}
