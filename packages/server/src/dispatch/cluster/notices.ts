import { randomUUID } from 'node:crypto'
import { parseJson } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { type Machine, notices, openLastingConnection } from '../../store/index.ts'

/** Changes within this time are sent in one notice: a NOTIFY for each would cost most of the throughput. */
const COLLECT_MS = 5
const RETRY_MS = 100

/** What happened in the database, as far as other processes need to react. A notice may announce more than happened, never less. */
export interface Notice {
  /** Sessions with new events; `many` when there are too many to name. */
  sessions: ReadonlySet<string> | 'many'
  /** True when actions moved. */
  inbox: boolean
  /** Runs that a person ended, for the process that makes a model call for one: reading does not find them. */
  ended: ReadonlySet<string>
  /** True when there are jobs that the sender does not take. */
  jobs: boolean
  /** Principals whose rights were reduced or changed; `all` when there are too many to name. */
  access: ReadonlySet<string> | 'all'
  /** True when the sender stops: other processes must schedule what only the sender knew to be due. */
  left: boolean
}

/** Tells the processes on one database what to read. A lost notice is made up for by reading everything again: see `onGap`. */
export interface Notices extends AsyncDisposable {
  tell(notice: Partial<Notice>): void
  /** Announces at once that this process stops. @returns False when the database does not accept the notice. */
  tellOfLeaving(): Promise<boolean>
  /** Receives what other processes announce. */
  onNotice(listener: (notice: Notice) => void): void
  /** Reports that notices may have been missed. */
  onGap(listener: () => void): void
}

const WireNotice = z.object({
  from: z.string(),
  sessions: z.union([z.literal('many'), z.array(z.string())]),
  inbox: z.boolean(),
  ended: z.array(z.string()),
  jobs: z.boolean(),
  // The first versions did not send this field.
  left: z.boolean().default(false),
  access: z.union([z.literal('all'), z.array(z.string())]).default([]),
})
type WireNotice = z.infer<typeof WireNotice>

/** Returns undefined for messages of other applications on the database or of other versions. */
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
  // A run that is not named here is found by reading, and its model call ends with the next chunk of the answer.
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
      // The database is unreachable. A process that lost its connection rereads everything on reconnect anyway, but not every process loses
      // it.
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
