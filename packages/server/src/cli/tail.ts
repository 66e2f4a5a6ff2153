import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { type Api, type ApiFlags, isFinal, openApi, withApiFlags } from './api.ts'
import { eventsOf } from './event-stream.ts'
import { complain, say, sayJson } from './say.ts'

interface TailFlags extends ApiFlags {
  count?: string
}

const RECONNECT_MS = 1_000

/** `countersign tail`: prints events of actions as they happen. */
export const tailCommand = (environment: Environment): Command =>
  withApiFlags(new Command('tail').description('print what happens to actions, as it happens'))
    .option('--json', 'print one JSON object a line: {id, type, data}')
    .option('--count <number>', 'end after so many events')
    .action((flags: TailFlags) => tail(openApi(flags, environment), flags))

/** Resumes after the last event when the connection is cut; ends when the server refuses, or when the first connection cannot be made. */
async function tail(api: Api, { json, count }: TailFlags): Promise<void> {
  let left = count === undefined ? Number.POSITIVE_INFINITY : Number(count)
  if (!(left > 0)) throw new Error('--count must be a number above 0')
  // `tail | head -1`: the reader is gone.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1))
  let lastId: string | undefined
  let isFirst = true
  const onId = (id: string) => {
    lastId = id
  }
  for (;;) {
    try {
      const { body } = await api.open('/api/events', { headers: lastId === undefined ? {} : { 'last-event-id': lastId } })
      if (isFirst) complain('connected')
      isFirst = false
      for await (const { id, event, data } of eventsOf(body, onId)) {
        if (event === undefined) continue
        const parsed: unknown = JSON.parse(data)
        if (json) sayJson({ ...(id !== undefined && { id: Number(id) }), type: event, data: parsed })
        else say(lineOf(event, parsed))
        if (--left <= 0) process.exit(0)
      }
    } catch (error) {
      if (isFirst || isFinal(error)) throw error
      complain('the connection was cut: connecting again')
    }
    await delay(RECONNECT_MS)
  }
}

interface Told {
  proposal?: { id: string; state: string; description: string; risk: { level: string } }
  proposalId?: string
  actionId?: string
  state?: string
  revision?: number
  waitedMs?: number
}

function lineOf(type: string, data: unknown): string {
  const { proposal, proposalId, actionId, state, waitedMs } = data as Told
  const at = new Date().toISOString()
  if (proposal) return `${at}  ${type}  ${proposal.id}  ${proposal.state}  ${proposal.risk.level}  ${proposal.description}`
  const waited = waitedMs === undefined ? undefined : `nobody has decided for ${spanOf(waitedMs)}`
  return [at, type, proposalId ?? actionId, state, waited].filter((part) => part !== undefined).join('  ')
}

/** Whole minutes; below one, whole seconds. */
const spanOf = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : `${Math.floor(ms / 60_000)} min`)
