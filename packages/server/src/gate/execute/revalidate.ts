import { isCountersignError, type JsonObject, type PreviewField, type Tool } from '@countersign/core'
import { type ActionRow, stored } from '../../store/index.ts'
import type { Why } from '../decide/revise.ts'
import type { GateDeps } from '../gate.ts'
import { definitionHashOf } from '../propose/digest.ts'
import type { PreparedAction } from '../propose/prepare.ts'
import { prepareAgain } from '../propose/prepare-again.ts'
import { readPreview, type SeenTarget } from '../propose/read-preview.ts'
import { isSameField, textOf } from '../propose/same-preview.ts'
import { isDatabaseAway } from './start-failures.ts'

/** The result of the check before an action starts. */
export type Revalidation =
  /** It is as it was decided. */
  | { to: 'start'; version: string | null }
  /** It differs: people decide about it as it is now. */
  | { to: 'ask'; why: Why; prepared: PreparedAction }
  /** It cannot be told, so it is not done. */
  | { to: 'fail'; kind: string; message: string; retryable: boolean }

const AS_DECIDED: Revalidation = { to: 'start', version: null }

/**
 * Checks that an action is still as it was decided: tool, destination, credential, and the state of the target on the card. The target is
 * read only if the card showed something of it, and outside any transaction. Causes of a refusal (a tool that is gone, arguments that do
 * not match the digest) are left to the refusal.
 */
export async function revalidate(deps: GateDeps, row: ActionRow): Promise<Revalidation> {
  const tool = deps.tools.byName(row.tool)
  // Nobody saw a card of an action that policy allowed. If its tool changed, the attempt fails, and the requester can propose it again.
  if (!tool || !stored.wasAsked(row)) return AS_DECIDED
  const moved = whyMoved(tool, row)
  if (moved) return requestReapproval(deps, row, moved)
  if (row.precondition === null) return AS_DECIDED
  const args: JsonObject = stored.argumentsOf(row)
  const seen = await readPreview(tool, args, deps)
  if (seen.precondition === row.precondition) return { to: 'start', version: seen.version }
  // Asking about it again would be in vain. It may be tried again once the target allows it.
  if (seen.impossible === 'at all') return { to: 'fail', kind: 'impossible', message: notAnyMore(seen.previewError), retryable: true }
  if (seen.previewError !== null) return unreadable(seen.previewError)
  return requestReapproval(deps, row, { why: 'target', reason: whatChanged(stored.previewOf(row) ?? [], seen.preview ?? []) }, seen)
}

const notAnyMore = (reason: string | null): string => `This cannot be done any more, so it was not carried out: ${reason}`

const unreadable = (error: string): Revalidation => ({
  to: 'fail',
  kind: 'unreadable',
  message: `The current values could not be read, so it was not carried out: ${error}`,
  retryable: true,
})

/** Why a tool is not the one that was shown; undefined while it is. */
export function whyMoved(tool: Tool, row: ActionRow): Why | undefined {
  if (tool.destination !== row.destination)
    return { why: 'tool', reason: `${row.tool} goes to ${tool.destination} now, not to ${row.destination}.` }
  if (definitionHashOf(tool) !== row.definition_hash) return { why: 'tool', reason: `${row.tool} is not the tool that was shown any more.` }
  if (tool.credential !== row.credential) {
    return { why: 'credential', reason: `${row.tool} would be carried out with other rights than were shown.` }
  }
  return undefined
}

/**
 * Prepares the new revision of an action whose decision no longer holds, with current values.
 * @throws CountersignError of the database when it is away or full, which says nothing about the action.
 */
export async function requestReapproval(deps: GateDeps, row: ActionRow, why: Why, seen?: SeenTarget): Promise<Revalidation> {
  const tool = deps.tools.byName(row.tool)
  if (!tool)
    return {
      to: 'fail',
      kind: 'tool_missing',
      message: `the tool ${row.tool} is no longer configured; it was not carried out`,
      retryable: false,
    }
  try {
    const prepared = await prepareAgain(deps, row, { tool, ...(seen && { seen }) })
    return { to: 'ask', why, prepared }
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    if (!isCountersignError(error)) deps.log.error({ actionId: row.id, tool: row.tool, error }, 'tool.prepare_failed')
    const words = isCountersignError(error) ? error.message : `${row.tool} is broken`
    return { to: 'fail', kind: 'tool_changed', message: `${why.reason} It cannot go back for approval: ${words}`, retryable: false }
  }
}

const MAX_NAMED = 3

/** Returns a sentence about the difference from the card. */
export function whatChanged(shown: readonly PreviewField[], now: readonly PreviewField[]): string {
  const before = new Map(shown.map((one) => [one.field, one]))
  const others = now.filter((one) => !isSameField(one, before.get(one.field)))
  const changed = others.filter(({ field, oldValue }) => textOf(before.get(field)?.oldValue) !== textOf(oldValue))
  const text = others.find(({ field, diff }) => diff !== undefined && diff !== before.get(field)?.diff)
  if (changed.length === 0 && text) return `${text.field} is not what it was when this was shown: the diff is another one now.`
  if (changed.length === 0) return 'What this rests on has changed since it was shown.'
  const named = changed.slice(0, MAX_NAMED).map(({ field, oldValue }) => {
    const [was, is] = [inWords(before.get(field)?.oldValue), inWords(oldValue)]
    return was === is ? `${field} is another one now, after its first ${MAX_CHARACTERS} characters` : `${field} was ${was} and is ${is} now`
  })
  const more = changed.length > MAX_NAMED ? `, and ${changed.length - MAX_NAMED} more` : ''
  return `The values changed since this was shown: ${named.join('; ')}${more}.`
}

const MAX_CHARACTERS = 80

function inWords(value: unknown): string {
  const text = value === undefined ? '(none)' : JSON.stringify(value)
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…` : text
}
