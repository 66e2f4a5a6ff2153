import { randomUUID } from 'node:crypto'
import { parseJson } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { type Machine, notices, openLastingConnection } from '../../store/index.ts'
import { createPeers, type Peers } from './peers.ts'

/** Changes within this time are sent in one notice: a NOTIFY for each would cost most of the throughput. */
const COLLECT_MS = 5
const RETRY_MS = 100

/** A change in the database that other processes need to react to. A notice may announce more than happened, never less. */
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
  /** True when the sender listens now: a process that was alone until then has announced nothing to it. */
  joined: boolean
}

/** The notice that makes other processes reread everything. */
export const EVERYTHING = { jobs: true, sessions: 'many', inbox: true, access: 'all' } as const satisfies Partial<Notice>

/** Tells the other processes on one database, if there are any, what to read. A lost notice is made up for by reading everything again: see `onGap`. */
export interface Notices extends AsyncDisposable {
  tell(notice: Partial<Notice>): void
  /** Announces, even to nobody, that this process has joined again. */
  tellOfJoining(): void
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
  // The first versions did not send these fields.
  left: z.boolean().default(false),
  joined: z.boolean().default(false),
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
  joined: false,
  access: new Set<string>() as Set<string> | 'all',
})

/**
 * @param url Of the database itself, not of a pooler.
 * @param peers Learns of other processes from their notices. Nothing is announced while there is no other process. Default: there may be
 * others.
 */
export async function openNotices(url: string, machine: Machine, peers: Peers = createPeers(machine)): Promise<Notices> {
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
      // A process that joined before this one listened was not heard here.
      peers.miss()
      await notices.notify(session, writeNotice({ ...nothing(), joined: true }, from))
      if (wasOpen) for (const listener of gapListeners) listener()
      wasOpen = true
    },
    onNotification(text) {
      const notice = readNotice(text)
      if (notice?.from === from) return
      peers.hear()
      if (notice) for (const listener of listeners) listener(notice)
      else for (const listener of gapListeners) listener()
    },
  })

  function add(told: Partial<Notice>): void {
    const { sessions = new Set(), inbox = false, ended = new Set(), access = new Set() } = told
    if (sessions === 'many' || untold.sessions === 'many') untold.sessions = 'many'
    else for (const id of sessions) untold.sessions.add(id)
    for (const runId of ended) untold.ended.add(runId)
    if (access === 'all' || untold.access === 'all') untold.access = 'all'
    else for (const id of access) untold.access.add(id)
    untold.inbox ||= inbox
    untold.jobs ||= told.jobs === true
    untold.left ||= told.left === true
    untold.joined ||= told.joined === true
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
      // Without a connection, another process may have joined unheard.
      if (isClosed || (connection.isOpen && !peers.mayExist)) return
      add(notice)
      schedule(COLLECT_MS)
    },
    tellOfJoining() {
      add({ joined: true })
      schedule(0)
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
