import { durationMs, parseJson, type ReplayedActions } from '@countersign/core'
import type { Environment } from '../config/index.ts'
import { requireSafeAddress } from './api.ts'
import type { JsonOutput } from './json-output.ts'
import { say, sayJson } from './say.ts'

interface ReplayFlags {
  /** The policy in YAML or JSON. Default: the one in force. */
  document?: string | undefined
  replay?: string
  server: string
  expect?: string
  json?: true
}

/**
 * Asks a running server what a policy would have said about the actions of the last days, and prints the answer.
 * @returns True when nothing would be allowed that was asked or denied.
 * @throws Error without a key of a person, without an answer, for an invalid duration, or for an address that would expose the key.
 */
export async function replay(
  { document, replay: time = '', server, expect, json }: ReplayFlags,
  environment: Environment,
): Promise<boolean> {
  if (expect !== undefined) throw new Error('--expect is for a call; a replay says of each kind of change how many there are')
  const key = environment.COUNTERSIGN_KEY
  if (key === undefined) throw new Error('COUNTERSIGN_KEY must hold the key of a person of that server')
  requireSafeAddress(server, '--server')
  const body = { replay: { days: readDays(time) }, ...(document !== undefined && { document }) }
  const answer = await fetch(new URL('/api/policy/test', server), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw new Error(`${server} does not answer: is the server running there?`, { cause })
  })
  const text = await answer.text()
  const parsed = parseJson(text)
  if (!answer.ok || !parsed.ok) throw new Error(`${server} answered ${answer.status}: ${detailOf(parsed.ok ? parsed.value : undefined)}`)
  const replayed: ReplayedActions = JSON.parse(text)
  if (json) sayJson(replayed satisfies JsonOutput<'policy test'>)
  else tellReplay(replayed)
  return !replayed.changes.some(({ wouldBe }) => wouldBe === 'allow')
}

const detailOf = (problem: unknown): string =>
  typeof problem === 'object' && problem !== null && 'detail' in problem ? String(problem.detail) : 'an answer in an unknown format'

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
