import { durationMs, type ReplayedActions } from '@countersign/core'
import type { Environment } from '../config/index.ts'
import { type ApiFlags, openApi } from './api.ts'
import type { JsonOutput } from './json-output.ts'
import { say, sayJson } from './say.ts'

interface ReplayFlags extends ApiFlags {
  /** The policy in YAML or JSON. Default: the one in force. */
  document?: string | undefined
  replay?: string
  expect?: string
}

/**
 * Asks a running server what a policy would have said about the actions of the last days, and prints the answer.
 * @returns True when nothing would be allowed that was asked or denied.
 * @throws Error without a key of a person, without an answer, for an invalid duration, or for an address that would expose the key.
 */
export async function replay(
  { document, replay: time = '', expect, json, ...address }: ReplayFlags,
  environment: Environment,
): Promise<boolean> {
  if (expect !== undefined) throw new Error('--expect is for a call; a replay says of each kind of change how many there are')
  const api = openApi(address, environment)
  const body = { replay: { days: readDays(time) }, ...(document !== undefined && { document }) }
  const replayed = (await api.call('POST', '/api/policy/test', body)) as ReplayedActions
  if (json) sayJson(replayed satisfies JsonOutput<'policy test'>)
  else tellReplay(replayed)
  return !replayed.changes.some(({ wouldBe }) => wouldBe === 'allow')
}

function tellReplay({ since, evaluated, skipped, truncated, was, wouldBe, changes }: ReplayedActions): void {
  say(
    `${evaluated} actions since ${since}${truncated ? ', the newest of more' : ''}${skipped > 0 ? `; ${skipped} redacted or of tools that are gone` : ''}.`,
  )
  for (const verdict of ['allow', 'ask', 'deny'] as const) say(`  ${verdict.padEnd(5)}  ${was[verdict]} → ${wouldBe[verdict]}`)
  for (const change of changes) say(`  ${change.count} from ${change.was} to ${change.wouldBe}, for example ${change.actionIds.join(', ')}`)
}

const DAYS: Record<string, number> = { d: 1, h: 1 / 24, m: 1 / 1_440 }

/** @throws Error for an invalid duration. */
function readDays(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([dhm])$/.exec(text) ?? []
  const days = amount === undefined ? (durationMs(text) ?? Number.NaN) / 86_400_000 : Number(amount) * (DAYS[unit] ?? 0)
  if (days > 0) return days
  throw new Error(`--replay: must be a time such as 7d, 12h or P7D, not "${text}"`)
}
