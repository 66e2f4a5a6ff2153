import { OPEN_STATES } from '@countersign/core'
import type { ClaimedStep, JobName, RunRow } from '../../packages/server/src/store/index.ts'
import { Connection, type Query } from './connection.ts'
import type { WorldDatabase } from './database.ts'
import { Jobs } from './jobs.ts'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

interface ProcessRow {
  id: string
  number: number
  pools: string
  backend: number
  seenAt: number
}

const OPEN = OPEN_STATES.map((state) => `'${state}'`).join(', ')

type Rows = Record<string, unknown>[]

export interface PostgresParts {
  timeline: Timeline
  random: Random
  database: WorldDatabase
}

/**
 * The database server that several processes of a world share, as far as it is more than tables: connections and their locks, the
 * processes that are known, who makes which model call, jobs, notices. The statements are told apart by their names and do what their
 * SQL says; each runs at one moment.
 */
export class SimulatedPostgres {
  readonly jobs: Jobs
  readonly parts: PostgresParts
  /** Processes that cannot connect at the moment. */
  readonly unreachable = new Set<Owner>()
  readonly #connections = new Map<number, Connection>()
  readonly #processes = new Map<string, ProcessRow>()
  /** Advisory locks of processes: who holds which number. A session may hold one more than once. */
  readonly #locks = new Map<number, { backend: number; times: number }>()
  readonly #claims = new Map<string, { runner: string; steps: number }>()
  #lastNumber = 0
  #lastBackend = 0

  constructor(parts: PostgresParts) {
    this.parts = parts
    this.jobs = new Jobs(() => parts.timeline.nowMs)
  }

  connect(owner: Owner, name: string): Connection {
    const connection = new Connection(this, owner, name, ++this.#lastBackend)
    this.#connections.set(connection.backend, connection)
    return connection
  }

  /** The connections of a process. */
  connectionsOf(owner: Owner): Connection[] {
    return [...this.#connections.values()].filter((connection) => connection.owner === owner)
  }

  /** Ends the work of a connection that has ended, for whatever reason. */
  forget(backend: number): void {
    this.#connections.delete(backend)
    for (const [number, lock] of this.#locks) if (lock.backend === backend) this.#locks.delete(number)
  }

  /** True when the process of this id holds its own lock. */
  isHeldByItself(processId: string): boolean {
    const row = this.#processes.get(processId)
    return row !== undefined && this.#locks.get(row.number)?.backend === row.backend
  }

  run(query: Query, backend: number): Rows {
    const values = query.values ?? []
    const name = query.name ?? unnamed(query.text)
    switch (name) {
      case 'process_register': {
        const [id, , , pools] = values as string[]
        const row = { id: String(id), number: ++this.#lastNumber, pools: String(pools), backend, seenAt: this.#nowMs }
        this.#processes.set(row.id, row)
        this.#lock(row.number, backend)
        return [{ number: row.number }]
      }
      case 'process_end_former': {
        const row = this.#processes.get(String(values[0]))
        const holder = this.#locks.get(Number(values[1]))
        if (row && holder && holder.backend === row.backend && row.backend !== backend) this.#connections.get(row.backend)?.break()
        return []
      }
      case 'process_take':
        return [{ taken: this.#lock(Number(values[0]), backend) }]
      case 'process_release':
        return this.#release(Number(values[0]), backend)
      case 'process_resume':
        return this.#update(values[0], (row) => Object.assign(row, { backend, seenAt: this.#nowMs }))
      case 'process_pools':
        return this.#update(values[0], (row) => Object.assign(row, { pools: String(values[1]) }))
      case 'process_abandon':
        return this.#update(values[0], (row) => Object.assign(row, { seenAt: 0 }))
      case 'process_end':
        this.#connections.get(Number(values[0]))?.break()
        return []
      case 'process_forget':
        return this.#forgetProcess(String(values[0]))
      case 'process_beat':
        return this.#beat(String(values[0]))
      case 'step_claim':
      case 'step_claim_as_written':
        return this.#isAsWritten(values) ? this.#claimStep(values as [string, string, string, number]) : []
      case 'step_give_back':
        return this.#giveBack(String(values[0]))
      case 'job_give_back':
        this.#giveBack(String(values[0]), String(values[2]))
        this.jobs.add(values[1] as JobName, String(values[2]))
        return []
      case 'job_enqueue_again':
        this.jobs.add(values[0] as JobName, String(values[1]))
        return []
      case 'job_unlock':
        this.jobs.unlock(values[0] as string[])
        return []
      case 'job_locked':
        return this.jobs
          .lockedFor(values[0] as string[])
          .map(({ n, id, lock }) => ({ id: n, subject: id, locked_at: new Date(lock), text: lock }))
      case 'job_held':
        return this.jobs
          .lockedFor([String(values[0])])
          .filter(({ lockedAtMs }) => lockedAtMs < this.#nowMs - 2_000)
          .map(({ name, id, key }) => ({ name, subject: id, key }))
      case 'job_remove_held':
        this.jobs.endHeld(String(values[0]), values[1] as string[])
        return []
      case 'job_fail_held':
        this.jobs.failHeld(String(values[0]), String(values[1]))
        return []
      case 'job_unlock_lost': {
        const [ids = [], locks = []] = values as number[][]
        for (const [i, n] of ids.entries()) this.jobs.unlockOne(n, Number(locks[i]))
        return []
      }
      case 'job_find':
        return (values[0] as string[]).flatMap((id) => this.#findJob(id))
      case 'job_add_missing':
        return this.#addMissing(JSON.parse(String(values[0])))
      case 'job_count':
        return [{ count: String(this.jobs.size) }]
      case 'enqueue_advance':
      case 'enqueue_execute':
        return this.#enqueue(name === 'enqueue_advance' ? 'advance' : 'execute', String(values[0]))
      case 'stray_pools':
        return this.jobs
          .lockingPools()
          .filter((pool) => !this.#isKnown(pool))
          .map((pool) => ({ locked_by: pool }))
      case 'stray_runners':
        return this.parts.database
          .all<{ runner: string }>(
            `select distinct runner from action where state = 'executing' and executor = 'server' and runner is not null order by runner`,
          )
          .filter(({ runner }) => !this.#processes.has(runner))
      case 'listen':
        this.#connections.get(backend)?.listen()
        return []
      case 'notify':
        for (const connection of this.#connections.values()) connection.hear(String(values[0]))
        return []
      default:
        throw new Error(`the simulated database does not know ${name}`)
    }
  }

  #isKnown(pool: string): boolean {
    return [...this.#processes.values()].some((row) => (JSON.parse(row.pools) as string[]).includes(pool))
  }

  #findJob(id: string): Rows {
    const found = this.jobs.about(id).filter(({ lockedBy }) => lockedBy === undefined || this.#isKnown(lockedBy))
    const jobs = { id, taken: found.some(({ lockedBy }) => lockedBy !== undefined), failed: found.some(({ hasFailed }) => hasFailed) }
    const isClaimed = [...this.#processes.keys()].some((runner) => this.#claimedBy(runner).some(({ sessionId }) => sessionId === id))
    return [...(found.length > 0 ? [jobs] : []), ...(isClaimed ? [{ id, taken: true, failed: false }] : [])]
  }

  get #nowMs(): number {
    return this.parts.timeline.nowMs
  }

  #update(id: unknown, change: (row: ProcessRow) => void): Rows {
    const row = this.#processes.get(String(id))
    if (!row) return []
    change(row)
    return [{ id: row.id }]
  }

  #lock(number: number, backend: number): boolean {
    const holder = this.#locks.get(number)
    if (holder && holder.backend !== backend) return false
    this.#locks.set(number, { backend, times: (holder?.times ?? 0) + 1 })
    return true
  }

  #release(number: number, backend: number): Rows {
    const holder = this.#locks.get(number)
    if (holder?.backend !== backend) return []
    if (--holder.times === 0) this.#locks.delete(number)
    return [{ pg_advisory_unlock: true }]
  }

  #beat(id: string): Rows {
    const known = this.#update(id, (row) => Object.assign(row, { seenAt: this.#nowMs })).length
    const others = [...this.#processes.values()].filter((row) => row.id !== id)
    const common = { now: String(this.#nowMs), known: String(known) }
    if (others.length === 0) return [{ ...common, id: null }]
    return others.map(({ number, pools, backend, seenAt, ...row }) => ({
      ...common,
      id: row.id,
      number,
      pools,
      backend,
      held_by: this.#locks.get(number)?.backend ?? null,
      silent: String(this.#nowMs - seenAt),
    }))
  }

  #forgetProcess(id: string): Rows {
    const { database } = this.parts
    const busy = database.all(`select 1 from action where runner = ? and state = 'executing' and executor = 'server'`, id)
    if (busy.length > 0 || this.#claimedBy(id).length > 0) return []
    return this.#processes.delete(id) ? [{ id }] : []
  }

  #openRun(sessionId: string): Pick<RunRow, 'id' | 'steps'> | undefined {
    return this.parts.database.all<RunRow>(`select id, steps from run where session_id = ? and state = 'open'`, sessionId)[0]
  }

  #isAsWritten([, sessionId, , , lastSeq, auditSeq, people]: unknown[]): boolean {
    if (lastSeq === undefined) return true
    const { database } = this.parts
    const disabled = database.all(
      `select 1 from principal join principal as person on person.id = coalesce(principal.person_id, principal.id)
      where principal.id in (select value from json_each(?)) and person.disabled_at is not null`,
      JSON.stringify(people),
    )
    const session = database.all(
      'select 1 from session where id = ? and last_seq = ? and audit_seq = ? and deleted_at is null',
      String(sessionId),
      Number(lastSeq),
      Number(auditSeq),
    )
    return disabled.length === 0 && session.length === 1
  }

  #claimStep([runner, sessionId, id, steps]: [string, string, string, number]): Rows {
    const run = this.#openRun(sessionId)
    if (run?.id !== id || run.steps !== steps) return []
    const claim = this.#claims.get(id)
    if (claim && claim.runner !== runner && claim.steps === steps && this.#processes.has(claim.runner)) return []
    this.#claims.set(id, { runner, steps })
    return [{}]
  }

  /** Claims a step for the process whose transaction made it due. */
  claimDueStep({ id, steps, runner }: ClaimedStep): boolean {
    const claim = this.#claims.get(id)
    if (claim?.steps === steps && this.#processes.has(claim.runner)) return false
    this.#claims.set(id, { runner, steps })
    return true
  }

  /** Sessions whose next model call is this process's. */
  #claimedBy(runner: string): { sessionId: string; runId: string }[] {
    return this.parts.database
      .all<{ session_id: string; id: string; steps: number }>(`select session_id, id, steps from run where state = 'open' order by id`)
      .filter(({ id, steps }) => this.#claims.get(id)?.runner === runner && this.#claims.get(id)?.steps === steps)
      .map((run) => ({ sessionId: run.session_id, runId: run.id }))
  }

  #giveBack(runner: string, onlyOf?: string): Rows {
    for (const { sessionId, runId } of this.#claimedBy(runner)) {
      if (onlyOf !== undefined && sessionId !== onlyOf) continue
      this.#claims.delete(runId)
      if (onlyOf === undefined) this.jobs.add('advance', sessionId)
    }
    return []
  }

  #addMissing(wanted: readonly { name: JobName; id: string }[]): Rows {
    const calls = {
      advance: `select 1 as one from session where id = ?1 and status = 'active'
          and exists (select 1 from run where run.session_id = ?1 and run.state = 'open')
          and not exists (select 1 from action where action.session_id = ?1 and action.state in (${OPEN}))
        union all select 1 from message where session_id = ?1 and queued = 1
          and not exists (select 1 from run where run.session_id = ?1 and run.state = 'open')`,
      execute: `select 1 as one from action where id = ?1 and state = 'approved' and executor = 'server'`,
    }
    const due = wanted.filter(({ name, id }) => this.parts.database.all(calls[name], id).length > 0)
    for (const { name, id } of due) this.jobs.add(name, id, `${name}:${id}`)
    return [{ count: String(due.length) }]
  }

  #enqueue(name: JobName, after: string): Rows {
    const calls = {
      advance: `select id from session where status = 'active' and id > ?1
        union select session_id from message where queued = 1 and session_id > ?1
          and not exists (select 1 from run where run.session_id = message.session_id and run.state = 'open') order by 1`,
      execute: `select id from action where state = 'approved' and executor = 'server' and id > ?1 order by id`,
    }
    const found = this.parts.database.all<{ id: string }>(calls[name], after)
    for (const { id } of found) this.jobs.add(name, id, `${name}:${id}`)
    return [{ last: found.at(-1)?.id ?? null, count: String(found.length) }]
  }
}

/** The statements without a name, told apart by what they say. */
function unnamed(text: string): string {
  if (text.includes('distinct locked_by')) return 'stray_pools'
  if (text.includes('distinct runner')) return 'stray_runners'
  return text.startsWith('listen') ? 'listen' : text
}
