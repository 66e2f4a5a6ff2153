import { randomUUID } from 'node:crypto'
import { parseJson } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { type Machine, notices, openLastingConnection } from '../../store/index.ts'

/** What is told within this time is told at once: a NOTIFY each would cost most of the throughput. */
const COLLECT_MS = 5
const RETRY_MS = 100

/** What happened in the database, as far as a process has to look at it. It may be told of more than happened, never of less. */
export interface Notice {
  /** Sessions with new events; `many` when there are too many to name. */
  sessions: ReadonlySet<string> | 'many'
  /** True when actions moved. */
  inbox: boolean
  /** Runs that a person ended. Told for their sake who makes a model call for one: it is not found by reading. */
  ended: ReadonlySet<string>
  /** True when there are jobs that the teller does not take. */
  jobs: boolean
  /** Principals who may do less than before, or something else; `all` when there are too many to name. */
  access: ReadonlySet<string> | 'all'
  /** True when the teller stops: what it alone knew to be due, others have to think of. */
  left: boolean
}

/** Tells the processes on one database what to look at. A lost notice is made good by reading everything again: see `onGap`. */
export interface Notices extends AsyncDisposable {
  tell(notice: Partial<Notice>): void
  /** Tells the others at once that this process stops. @returns False when the database does not take it. */
  tellOfLeaving(): Promise<boolean>
  /** What other processes tell. */
  onNotice(listener: (notice: Notice) => void): void
  /** Something may have been told that nobody heard here. */
  onGap(listener: () => void): void
}

const WireNotice = z.object({
  from: z.string(),
  sessions: z.union([z.literal('many'), z.array(z.string())]),
  inbox: z.boolean(),
  ended: z.array(z.string()),
  jobs: z.boolean(),
  // Not said by the first versions.
  left: z.boolean().default(false),
  access: z.union([z.literal('all'), z.array(z.string())]).default([]),
})
type WireNotice = z.infer<typeof WireNotice>

/** Undefined for what anybody else on the database, or another version, may have said. */
function readNotice(text: string): (Notice & { from: string }) | undefined {
  const parsed = parseJson(text)
  const known = parsed.ok ? WireNotice.safeParse(parsed.value) : undefined
  if (!known?.success) return undefined
  const { sessions, ended, access, ...notice } = known.data
  return {
    ...notice,
    ended: new Set(ended),
    sessions: sessions === 'many' ? sessions : new Set(sessions),
    access: access === 'all' ? access : new Set(access),
  }
}

function writeNotice({ sessions, access, ended, ...notice }: Notice, from: string): string {
  const whole: WireNotice = {
    ...notice,
    from,
    sessions: sessions === 'many' ? sessions : [...sessions],
    ended: [...ended],
    access: access === 'all' ? access : [...access],
  }
  // Whoever is not named is found by reading, and a call whose run has ended by the next piece of its answer.
  const many: WireNotice = { ...whole, sessions: 'many' }
  const shorter: WireNotice[] = [whole, many, { ...many, ended: [] }, { ...many, ended: [], access: 'all' }]
  const texts = shorter.map((notice) => JSON.stringify(notice))
  return texts.find((text) => Buffer.byteLength(text) <= notices.MAX_NOTICE_BYTES) ?? ''
}

const nothing = () => ({
  sessions: new Set<string>() as Set<string> | 'many',
  inbox: false,
  ended: new Set<string>(),
  jobs: false,
  left: false,
  access: new Set<string>() as Set<string> | 'all',
})

/** @param url Of the database itself, not of a pooler. */
export async function openNotices(url: string, machine: Machine): Promise<Notices> {
  const from = randomUUID()
  const listeners: ((notice: Notice) => void)[] = []
  const gapListeners: (() => void)[] = []
  let untold = nothing()
  let wasOpen = false
  let isClosed = false
  let stopWaiting: (() => void) | undefined

  const connection = await openLastingConnection({
    url,
    name: 'countersign notices',
    machine,
    async onOpen(session) {
      await notices.listen(session)
      if (wasOpen) for (const listener of gapListeners) listener()
      wasOpen = true
    },
    onNotification(text) {
      const notice = readNotice(text)
      if (notice?.from === from) return
      if (notice) for (const listener of listeners) listener(notice)
      else for (const listener of gapListeners) listener()
    },
  })

  function add(told: Partial<Notice>): void {
    const { sessions = new Set(), inbox = false, ended = new Set(), jobs = false, left = false, access = new Set() } = told
    if (sessions === 'many' || untold.sessions === 'many') untold.sessions = 'many'
    else for (const id of sessions) untold.sessions.add(id)
    for (const runId of ended) untold.ended.add(runId)
    if (access === 'all' || untold.access === 'all') untold.access = 'all'
    else for (const id of access) untold.access.add(id)
    untold.inbox ||= inbox
    untold.jobs ||= jobs
    untold.left ||= left
  }

  function schedule(delayMs: number): void {
    stopWaiting ??= machine.clock.after(delayMs, () => void send())
  }

  async function send(): Promise<boolean> {
    stopWaiting?.()
    stopWaiting = undefined
    const notice = untold
    untold = nothing()
    checkpoint('notice.before_send')
    try {
      await notices.notify(connection, writeNotice(notice, from))
      checkpoint('notice.after_send')
      return true
    } catch {
      // The database is away. Who hears again when it is back reads everything anyway, but not everybody loses the connection.
      add(notice)
      if (!isClosed) schedule(RETRY_MS)
      return false
    }
  }

  return {
    tell(notice) {
      if (isClosed) return
      add(notice)
      schedule(COLLECT_MS)
    },
    tellOfLeaving() {
      add({ jobs: true, left: true })
      return send()
    },
    onNotice: (listener) => void listeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    async [Symbol.asyncDispose]() {
      isClosed = true
      if (stopWaiting) await send()
      await connection[Symbol.asyncDispose]()
    },
  }
}
