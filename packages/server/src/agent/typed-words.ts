import { type Command, readCommand, type ShownAction, shortIdOf } from '@countersign/core'
import { type Caller, findRight, mayDecide } from '../gate/index.ts'
import { type ActionRow, actions, stored, type Tx } from '../store/index.ts'
import type { Announcements } from './announcements.ts'
import { votableOf } from './approve.ts'
import { whyNotUnnamed } from './unnamed.ts'

/** For how long a person must have been shown an action before a typed word decides it. */
const SHOWN_MS = 1_000
/** The clocks of two processes differ by less. */
const SET_BACK_MS = 60_000

/** The actions that a typed word can decide. */
export interface WordContext {
  caller: Caller
  /** The actions that the client says it showed; undefined when it does not say: then {@link announcements} count. */
  shown: readonly ShownAction[] | undefined
  announcements: Announcements
  nowMs: number
}

/** The actions that a typed word decides, and a sentence for the person about those that it does not. */
export interface WordVerdict {
  decides: string[]
  problem: string | undefined
}

/** Reads a text as a command word. Undefined unless it is one, something waits, and its author has a vote on it. */
export function* readVote(content: string, waiting: readonly string[], caller: Caller, now: number): Tx<Command | undefined> {
  const command = waiting.length > 0 ? readCommand(content) : undefined
  if (!command) return undefined
  return mayDecide(caller.principal, { roles: ['approver'] }) || (yield* votableOf(waiting, caller, now)).length > 0 ? command : undefined
}

/**
 * Says which of the waiting actions a typed word decides. A word that names none decides only where exactly one waits; `approve all` decides
 * those it may and leaves the others.
 */
export function* judgeWord(command: Command, waiting: readonly string[], context: WordContext): Tx<WordVerdict> {
  const { caller, nowMs } = context
  const named = namedBy(command, waiting)
  const problem =
    (yield* whyNot(command, waiting)) ??
    (yield* whyNoVote(named, command, caller, nowMs)) ??
    (command.verdict === 'approve' ? yield* whyNotUnseen(named) : undefined)
  if (problem !== undefined) return { decides: [], problem }
  const decides: string[] = []
  const problems: string[] = []
  for (const id of named) {
    const row = yield* actions.findAction.first({ id })
    const why = row && whyNotByWord(row, context)
    if (why === undefined) decides.push(id)
    else problems.push(why)
  }
  return { decides, problem: problems.length === 0 ? undefined : problems.join('\n') }
}

/** The waiting actions that a word means. */
function namedBy({ actionId, shortId }: Command, waiting: readonly string[]): readonly string[] {
  if (shortId !== undefined) return waiting.filter((id) => shortIdOf(id) === `#${shortId}`)
  return actionId === undefined ? waiting : [actionId]
}

/** Why a person who typed a command word has no vote on what it names. */
function* whyNoVote(named: readonly string[], { all }: Command, { principal }: Caller, now: number): Tx<string | undefined> {
  const refusals: string[] = []
  for (const id of named) {
    const row = yield* actions.findAction.first({ id })
    const right = row && (yield* findRight(row, principal, now))
    if (right?.refusal !== undefined) refusals.push(`${principal.name} may not decide about "${row?.description}": ${right.refusal}.`)
  }
  return refusals.length > 0 && (!all || refusals.length === named.length) ? refusals[0] : undefined
}

/** Why a word means no action, or not exactly one. */
function* whyNot({ verdict, all, actionId, shortId }: Command, waiting: readonly string[]): Tx<string | undefined> {
  if (actionId !== undefined)
    return waiting.includes(actionId) ? undefined : `${actionId} does not wait in this session; nothing was decided.`
  if (shortId !== undefined) {
    const found = waiting.filter((id) => shortIdOf(id) === `#${shortId}`).length
    if (found === 1) return undefined
    return `${found === 0 ? 'No action' : `More than one action`} that waits in this session is #${shortId}; nothing was decided.`
  }
  if (all || waiting.length === 1) return undefined
  const lines: string[] = []
  for (const id of waiting.slice(0, MAX_LISTED)) {
    const row = yield* actions.findAction.first({ id })
    if (row) lines.push(`- ${shortIdOf(id)}: ${row.description}`)
  }
  if (waiting.length > MAX_LISTED) lines.push(`- and ${waiting.length - MAX_LISTED} more`)
  const example = shortIdOf(waiting[0] ?? '')
  // A person who typed "no" must not be told how to approve.
  const offered =
    verdict === 'approve' ? `"approve ${example}" with the one you mean, "approve all"` : `"decline ${example}" with the one you mean`
  return `${waiting.length} actions wait; nothing was decided. Type ${offered}, or use the cards.\n${lines.join('\n')}`
}

const MAX_LISTED = 10

/** A word names no revision: what changed since it was first asked is approved on its card, where the change is visible. */
function* whyNotUnseen(actionIds: readonly string[]): Tx<string | undefined> {
  for (const id of actionIds) {
    const row = yield* actions.findAction.first({ id })
    if (row && row.revision > 1) return `"${row.description}" changed since it was first asked. Look at its card, and approve it there.`
  }
  return undefined
}

/** Why a typed word does not decide an action that it means; undefined where it does. The same protections as the buttons of the card. */
function whyNotByWord(row: ActionRow, context: WordContext): string | undefined {
  const why = whyNotUnnamed(row)
  if (why !== undefined) return why
  if (wasShown(row, context)) return undefined
  return `"${row.description}" had not been shown to you for a second when you typed. Read it to its end, then type the word again.`
}

/** True when the person had this revision in front of them for {@link SHOWN_MS}. */
function wasShown(row: ActionRow, { shown, announcements, caller, nowMs }: WordContext): boolean {
  if (shown === undefined) {
    const sentAt = announcements.firstSentAt(caller.principal.id, row.id, row.revision)
    return sentAt !== undefined && isLongAgo(sentAt, nowMs)
  }
  const card = shown.find(({ actionId }) => actionId === row.id)
  if (card?.revision !== row.revision || card.digest !== row.digest) return false
  // Nobody can have seen an action before it existed, whatever the client says.
  const sinceMs = stored.revisedOf(row)?.at ?? row.created_at
  return card.forMs >= SHOWN_MS && isLongAgo(sinceMs, nowMs)
}

/** True for a card that was shown {@link SHOWN_MS} ago. A time this far ahead comes from before the clock was set back. */
const isLongAgo = (atMs: number, nowMs: number): boolean => nowMs - atMs >= SHOWN_MS || atMs - nowMs > SET_BACK_MS
