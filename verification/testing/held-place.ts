import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, CreatedKey, Principal } from '@countersign/core'
import { CRASH_VARIABLES, type Crash } from '../crash/crash-at.ts'
import type { ApiClient } from './api-client.ts'
import { type ChildServer, startChildServer } from './child-server.ts'
import { settled as untilSettled } from './decisions.ts'
import { startTarget, type Target, type TargetAnswer, toolsOf } from './target.ts'
import { openServerDatabase } from './test-database.ts'
import { startTestServer, type TestServer, temporaryFolder } from './test-server.ts'

const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href

export interface HeldPlace extends AsyncDisposable {
  readonly target: Target
  readonly server: TestServer
  /** Executing when the server was held, one of a keyed and one of an unkeyed tool. */
  readonly keyed: Action
  readonly unkeyed: Action
  /** The last one by the vote of {@link HeldPlace.eva}. */
  readonly approved: readonly [Action, Action, Action]
  readonly waiting: Action
  readonly sessionId: string
  /** The key of an admin. */
  readonly ada: CreatedKey & { key: string }
  /** An approver who is invited to the session. */
  readonly eva: ApiClient & { principal: Principal }
  start(flags: { hold?: boolean; acceptCopy?: boolean }): Promise<TestServer>
  /** Starts a process of its own on the data. @param crash Where it dies. Default: nowhere. */
  startChild(crash?: Crash): Promise<ChildServer>
}

export interface HeldOptions {
  /** Answers what is carried out once the hold has ended. Default: at once. */
  answer?(nth: number): TargetAnswer | Promise<TargetAnswer>
}

const scripts = { talk: [{ text: 'Hello' }, { text: 'Again' }] }

/** Starts a server with --hold on the data of one that was stopped with open actions. */
export async function openHeld({ answer = (nth) => ({ status: 200, body: { id: nth } }) }: HeldOptions = {}): Promise<HeldPlace> {
  const stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const never = Promise.withResolvers<TargetAnswer>()
  const isFull = Promise.withResolvers<void>()
  stack.defer(() => never.resolve({ status: 200 }))
  const target = stack.use(
    await startTarget((_request, nth) => {
      if (nth === 2) isFull.resolve()
      return nth <= 2 ? never.promise : answer(nth)
    }),
  )
  const config = { agents: { desk: { model: 'scripted/talk.json' } }, tools: toolsOf(target) }
  const dataDir = join(folder, 'data')
  const start = async (flags: object) => stack.use(await startTestServer({ config, scripts, place: { dataDir, environment }, flags }))
  const startChild = async (crash?: Crash) => {
    const configFile = join(folder, 'child.json')
    writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target) }))
    const crashing = crash && { [CRASH_VARIABLES.crash]: JSON.stringify(crash), [CRASH_VARIABLES.reached]: join(folder, 'reached') }
    const nodeArgs = crash ? ['--import', CRASH_AT] : []
    return stack.use(await startChildServer({ configFile, dataDir, environment: { ...environment, ...crashing }, nodeArgs }))
  }
  const first = await start({ maxExecutions: 2 })
  const { admin } = first
  const propose = (tool: string, what: string): Promise<Action> => admin.post('/api/actions', { tool, arguments: { what } })
  const eva = await first.as({ name: 'Eva', kind: 'person', roles: ['approver'] })
  const approve = async (tool: string, what: string, by: ApiClient = admin): Promise<Action> =>
    by.post(`/api/actions/${(await propose(tool, what)).id}/decision`, { verdict: 'approve' })
  const [keyed, unkeyed] = [await approve('keyed', 'k1'), await approve('unkeyed', 'u1')]
  await isFull.promise
  const approved = [await approve('unkeyed', 'u2'), await approve('unkeyed', 'u3'), await approve('keyed', 'k2', eva)] as const
  const waiting = await propose('unkeyed', 'w1')
  const { id: sessionId } = await admin.post('/api/sessions', {})
  await admin.post(`/api/sessions/${sessionId}/participants`, { person: eva.principal.id })
  const ada = await first.makeKey({ name: 'Ada', kind: 'person', roles: ['admin'] })
  await first.stop()
  const server = await start({ hold: true })
  return {
    ...{ target, server, keyed, unkeyed, approved, waiting, sessionId, ada, eva, start, startChild },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

interface Server {
  readonly admin: ApiClient
}

export const read = ({ admin }: Server, { id }: Action): Promise<Action> => admin.get(`/api/actions/${id}`)
export const settled = (server: Server, { id }: Action): Promise<Action> => untilSettled(server, id)
export const bodiesOf = ({ writes }: Target) => writes.map(({ body }) => (body as { what: string }).what)
