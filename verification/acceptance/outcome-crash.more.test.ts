import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { CRASH_VARIABLES, type Crash } from '../crash/crash-at.ts'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { startTarget, type Target, type TargetAnswer, type TargetRequest } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href

interface Place extends AsyncDisposable {
  target: Target
  /** Starts a server process on the data of the one before. @param crash Where it dies. Default: nowhere. */
  start(crash?: Crash): Promise<ChildServer>
}

/** Opens tools in front of a service, for servers that will be killed: `keyed`, `asked` (its outcome can be looked up) and `blind`. */
async function openPlace(answer: (request: TargetRequest, nth: number) => TargetAnswer | Promise<TargetAnswer>): Promise<Place> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const target = stack.use(await startTarget(answer))
  const configFile = join(folder.path, 'countersign.json')
  const routes = {
    baseUrl: target.url,
    tools: {
      keyed: { method: 'POST', path: '/keyed', idempotent: true },
      asked: { method: 'POST', path: '/asked', verify: { get: '/asked/{idempotencyKey}', done: { state: 'done' } } },
      blind: { method: 'POST', path: '/blind' },
    },
  }
  writeFileSync(configFile, JSON.stringify({ tools: { target: { prefix: false, routes } } }))
  const start = async (crash?: Crash) => {
    const more = crash && {
      [CRASH_VARIABLES.reached]: join(folder.path, 'reached.txt'),
      [CRASH_VARIABLES.crash]: JSON.stringify(crash),
    }
    const nodeArgs = crash ? ['--import', CRASH_AT] : []
    const dataDir = join(folder.path, 'data')
    return stack.use(await startChildServer({ configFile, dataDir, environment: { ...environment, ...more }, nodeArgs }))
  }
  return { target, start, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Proposes and approves one call of each tool. */
const approveAll = ({ admin }: ChildServer, ...tools: string[]): Promise<Action[]> =>
  Promise.all(
    tools.map(async (tool) => {
      const { id } = await admin.post('/api/actions', { tool, arguments: {} })
      return admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
    }),
  )

const settled = ({ admin }: ChildServer, action: Pick<Action, 'id'> | undefined): Promise<Action> =>
  admin.get(`/api/actions/${action?.id}?wait=60&until=settled`)

const sent = ({ target }: Place, path: string) =>
  target.writes.filter((write) => write.path === path).map(({ headers }) => headers['idempotency-key'])

test('kill -9 while tools run: a keyed one is sent again, one that can be asked is asked, of any other the outcome is unknown', async () => {
  const never = Promise.withResolvers<TargetAnswer>()
  const allSent = Promise.withResolvers<void>()
  await using place = await openPlace(({ method }, nth) => {
    if (method === 'GET') return { status: 200, body: { state: 'done', id: 4 } }
    if (nth === 3) allSent.resolve()
    return nth <= 3 ? never.promise : { status: 200, body: { id: 5 } }
  })
  const first = await place.start()
  const actions = await approveAll(first, 'keyed', 'asked', 'blind')
  await allSent.promise
  await first.kill()

  const second = await place.start()
  const [keyed, asked, blind] = await Promise.all(actions.map((action) => settled(second, action)))
  expect(keyed).toMatchObject({ state: 'succeeded', attempt: 2, result: { id: 5 } })
  expect(asked).toMatchObject({ state: 'succeeded', attempt: 1, result: { state: 'done', id: 4 } })
  expect(blind).toMatchObject({ state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous', retryable: false } })
  expect(sent(place, '/keyed')).toEqual([keyed?.idempotencyKey, keyed?.idempotencyKey])
  expect(sent(place, '/asked')).toEqual([asked?.idempotencyKey])
  expect(sent(place, '/blind')).toEqual([blind?.idempotencyKey])

  // I8: a result that was acknowledged to a person is stored, however soon the process dies.
  const resolved = await second.admin.post(`/api/actions/${blind?.id}/resolve`, { outcome: 'failed', note: 'Not there.' })
  await second.kill()
  const third = await place.start()
  expect(await third.admin.get(`/api/actions/${blind?.id}`)).toEqual(resolved)
})

test('kill -9 between two sends of one attempt: the next process sends on under the same key, three times in all', async () => {
  let arrived = Promise.withResolvers<void>()
  await using place = await openPlace(() => {
    arrived.resolve()
    return 'reset'
  })
  // It dies as it waits for its second send, however long this machine takes to kill it.
  const first = await place.start({ point: 'resend.waiting', nth: 1 })
  const { id } = await first.admin.post('/api/actions', { tool: 'keyed', arguments: {} })
  // It may be dead before it has answered.
  await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' }).catch(() => undefined)
  await arrived.promise
  await first.kill()
  expect(place.target.writes).toHaveLength(1)

  arrived = Promise.withResolvers()
  const second = await place.start()
  await arrived.promise
  const unknown = await settled(second, { id })
  expect(unknown).toMatchObject({ state: 'outcome_unknown', attempt: 3, error: { retryable: true } })
  expect(sent(place, '/keyed')).toEqual(Array(3).fill(`${id}.1`))
})
