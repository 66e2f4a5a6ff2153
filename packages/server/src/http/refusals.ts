import { type ErrorCode, isCountersignError } from '@countersign/core'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/index.ts'

/** The same refusal within this time is one more of the first. */
const WINDOW_MS = 60_000
/**
 * So many different refusals of one actor and window have rows of their own; those beyond are counted together. A flood must not fill the
 * record, and a flood of one must not hide what another tried: nobody at all counts as one actor.
 */
const MOST_ROWS = 20
/** So many actors with refusals are told apart in one window. Each but the first needs a key. */
const MOST_ACTORS = 100

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What says that somebody tried to do what they may not. `not_found` is what one is told of an action that one may not see. */
const REFUSALS = new Set<ErrorCode>(['unauthenticated', 'forbidden', 'not_found'])

interface Refusal {
  /** Id of whoever is signed in; `system` for nobody. */
  actor: string
  data: { route: string; path: string; code: ErrorCode; why: string; address: string }
  /** How often it was refused since the last row. */
  times: number
}

interface RefusalParts {
  store: Pick<Store, 'transact'>
  clock: Clock
  log: FastifyBaseLogger
}

/** Everything that was refused because of who asked, in the record. */
interface Refusals {
  /** Notes that a request was refused with this error. What is no refusal, or only wanted to read, is left out. */
  note(request: FastifyRequest, error: Error): void
  /** Writes down what was counted and has no row yet. */
  flush(): Promise<void>
}

/**
 * Writes a row `refused` for each try to change something that was refused because of who asked: the first at once, its repeats within a
 * minute as one more row with their number, and at most 20 different ones a minute for each actor. The answer does not wait for it, and does not depend on it.
 */
function createRefusals({ store, clock, log }: RefusalParts): Refusals {
  let counted = new Map<string, Refusal>()
  /** For each actor how many different refusals have a row, and how many more there were. */
  let actors = new Map<string, { rows: number; beyond: number }>()
  let stopWaiting: (() => void) | undefined
  let writing: Promise<unknown> = Promise.resolve()

  function write(rows: { actor: string; data: Record<string, string | number> }[]): void {
    if (rows.length === 0) return
    const nowMs = clock.nowMs()
    const written = store.transact(function* (outbox) {
      for (const { actor, data } of rows) yield* recordAudit(outbox, { kind: 'refused', actor, data }, nowMs)
    })
    writing = Promise.all([writing, written.catch((error: unknown) => log.warn({ error }, 'record.refusal_not_written'))])
  }

  function endWindow(): void {
    stopWaiting?.()
    stopWaiting = undefined
    const repeated = [...counted.values()].filter(({ times }) => times > 0)
    write([
      ...repeated.map(({ actor, data, times }) => ({ actor, data: { ...data, times } })),
      ...[...actors]
        .filter(([, { beyond }]) => beyond > 0)
        .map(([actor, { beyond }]) => ({ actor, data: { why: 'more refusals than have a row of their own', times: beyond } })),
    ])
    counted = new Map()
    actors = new Map()
  }

  return {
    note(request, error) {
      const refusal = refusalOf(request, error)
      if (!refusal) return
      stopWaiting ??= clock.after(WINDOW_MS, endWindow)
      const { data } = refusal
      const actor = actors.has(refusal.actor) || actors.size < MOST_ACTORS ? refusal.actor : SYSTEM
      const known = actors.get(actor) ?? { rows: 0, beyond: 0 }
      actors.set(actor, known)
      const name = JSON.stringify([actor, data.route, data.code, actor === SYSTEM ? data.address : data.path])
      const earlier = counted.get(name)
      if (earlier) earlier.times++
      else if (known.rows >= MOST_ROWS) known.beyond++
      else {
        known.rows++
        counted.set(name, { ...refusal, times: 0 })
        write([refusal])
      }
    },
    async flush() {
      endWindow()
      await writing
    },
  }
}

function refusalOf(request: FastifyRequest, error: Error): Omit<Refusal, 'times'> | undefined {
  const { method, url, ip, principal, routeOptions } = request
  if (READS.has(method) || !isCountersignError(error) || !REFUSALS.has(error.code)) return undefined
  // An address that does not exist is a slip of the pen, and nobody's id is looked for without a name.
  if (routeOptions.url === undefined || (error.code === 'not_found' && !principal)) return undefined
  // Signing in notes a wrong key or link itself, with how it was tried. A request that names a wrong key in its head never gets so far.
  const isTooEarly = request.headers.authorization !== undefined && !principal
  if (routeOptions.url === '/api/sign-in' && error.code === 'unauthenticated' && !isTooEarly) return undefined
  const path = (url.split('?')[0] ?? '').slice(0, 300)
  return {
    actor: principal?.id ?? SYSTEM,
    data: { route: `${method} ${routeOptions.url}`, path, code: error.code, why: error.message.slice(0, 300), address: ip },
  }
}

/** Notes every refusal of this application, and writes down the last ones when it closes. */
export function recordRefusals(app: FastifyInstance, parts: RefusalParts): void {
  const refusals = createRefusals(parts)
  app.addHook('onError', async (request, _reply, error) => refusals.note(request, error))
  app.addHook('onClose', () => refusals.flush())
}
