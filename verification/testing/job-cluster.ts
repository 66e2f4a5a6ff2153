import { Client } from 'pg'
import { expect, onTestFinished } from 'vitest'
import type { Clock } from '../../packages/server/src/clock.ts'
import { createFetches, type Fetches } from '../../packages/server/src/dispatch/cluster/fetches.ts'
import { openGraphile } from '../../packages/server/src/dispatch/cluster/graphile.ts'
import type { JobDispatch } from '../../packages/server/src/dispatch/cluster/job-dispatch.ts'
import { openNotices } from '../../packages/server/src/dispatch/cluster/notices.ts'
import { openProcesses, type Processes } from '../../packages/server/src/dispatch/cluster/processes.ts'
import type { Work } from '../../packages/server/src/dispatch/dispatch.ts'
import { createLog } from '../../packages/server/src/log.ts'
import { enqueueJobs, type Outbox, openPostgres, type Store, settings, thisMachine } from '../../packages/server/src/store/index.ts'
import { openTestDatabase } from './test-database.ts'

const ROOM = { advance: 4, execute: 4 }

const BEGAN_MS = thisMachine.clock.nowMs()

/** This machine, except that no time passes on its clocks: a process whose sign of life is late counts as alive and holds its own jobs. */
const STILL_MACHINE = { ...thisMachine, steadyMs: () => 0, clock: { ...thisMachine.clock, nowMs: () => BEGAN_MS } }

const LISTENERS = `select pid from pg_stat_activity where datname = current_database() and state = 'idle' and query like 'LISTEN "jobs:insert"%'`

/** Let the jobs go on that tests hold, also those that begin later. */
const releases: (() => void)[] = []

export interface JobCluster {
  url: string
  store: Store
  /** Commits changes for which sessions or actions need work. */
  call(wanted: { sessions?: string[]; actions?: string[] }): Promise<void>
  /** @param clock The dispatch's; default: the machine's. */
  start(work?: Partial<Work>, limits?: typeof ROOM, clock?: Clock): Promise<{ dispatch: JobDispatch; processes: Processes }>
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** The `sql` notifications that arrived. */
  heard: string[]
}

/**
 * Opens a database and dispatches on it, each as in its own process. They learn of a commit only through a job.
 * @param holds True to let the newest dispatch receive the commits, and start their work itself where it has room.
 */
export async function openJobCluster({ holds = false } = {}): Promise<JobCluster> {
  const { url, ...database } = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  let newest: JobDispatch | undefined
  const store = await openPostgres({
    url,
    onCommitted: (outbox) => holds && newest?.take(outbox),
    enqueue(outbox: Outbox) {
      if (holds) newest?.hold(outbox)
      return enqueueJobs(outbox)
    },
  })
  onTestFinished(() => store.close())
  const psql = new Client({ connectionString: url })
  const heard: string[] = []
  psql.on('notification', ({ payload = '' }) => heard.push(payload))
  await psql.connect()
  onTestFinished(() => psql.end())
  const log = createLog('silent')
  const sql: JobCluster['sql'] = async (text, values = []) => (await psql.query(text, values)).rows
  return {
    url,
    store,
    heard,
    call: ({ sessions = [], actions = [] }) =>
      store.transact(function* (outbox) {
        yield* settings.insertSetting.run({ name: 'called', value: '' })
        for (const id of sessions) outbox.sessions.add(id)
        for (const id of actions) outbox.actions.add(id)
      }),
    async start(work = {}, limits = ROOM, clock = thisMachine.clock) {
      const processes = await openProcesses({ url, name: 'test', version: '1', machine: STILL_MACHINE, log })
      const notices = await openNotices(url, thisMachine)
      const fetches = createFetches()
      const answered = watchAnswers(fetches)
      const dispatch = await openGraphile({ url, clock, processes, notices, limits, log, fetches })
      newest = dispatch
      dispatch.start({ advance: async () => {}, execute: async () => {}, ...work })
      processes.start({ takeOver: async () => {}, beginAnew: () => {} })
      onTestFinished(async () => {
        // A test that failed midway would otherwise wait for its own jobs until its hooks time out.
        for (const release of releases) release()
        dispatch.stop()
        await dispatch.drained()
        await processes.leave(true)
        await notices[Symbol.asyncDispose]()
        await dispatch.close()
      })
      if (!holds) return { dispatch, processes }
      // Before its pools have their ids, it leaves all work to a fetch.
      await expect.poll(() => sql(`select 1 from process where pools like '%"commit-%'`), { interval: 10 }).not.toEqual([])
      // Each of its two pools fetches once as it opens, and could take the first job of the test.
      await expect.poll(() => answered.size, { interval: 10 }).toBe(2)
      // A job that is added before they listen would be announced to nobody.
      await expect.poll(() => sql(LISTENERS), { interval: 10 }).toHaveLength(2)
      return { dispatch, processes }
    },
    sql,
  }
}

/** The pools that have had the answer to a fetch. */
function watchAnswers(fetches: Fetches): ReadonlySet<string> {
  const answered = new Set<string>()
  const begin = fetches.begin
  fetches.begin = (pool, size) => {
    const end = begin(pool, size)
    return (jobs) => {
      end(jobs)
      answered.add(pool)
    }
  }
  return answered
}

/** Records what it was called with, and continues when the test releases it or has ended. */
export function held() {
  const begun: string[] = []
  const gates: PromiseWithResolvers<void>[] = []
  let isReleased = false
  releases.push(() => {
    isReleased = true
    for (const gate of gates) gate.resolve()
  })
  const run = (id: string) => {
    begun.push(id)
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    if (isReleased) gate.resolve()
    return gate.promise
  }
  return { begun, gates, run }
}
