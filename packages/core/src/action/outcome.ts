import { withoutMedia } from '../ports/tool-media.ts'
import { decidingReason } from '../text/votes.ts'
import type { Action } from '../wire/action.ts'
import type { ActionState } from './lifecycle.ts'

/**
 * Every way in which an action ends. `denied` is the policy's refusal, `declined` that of people; `withdrawn` means that its
 * proposer took it back, `cancelled` that it ended before its start for any other reason.
 */
export const OUTCOME_STATUSES = [
  'succeeded',
  'failed',
  'declined',
  'denied',
  'expired',
  'withdrawn',
  'cancelled',
  'outcome_unknown',
] as const
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number]

/** How an action ended, with one text to give a model. */
export interface ActionOutcome {
  status: OutcomeStatus
  text: string
}

/** The members of an action that its outcome follows from. */
export type OutcomeFacts = Pick<
  Action,
  | 'id'
  | 'state'
  | 'description'
  | 'arguments'
  | 'revision'
  | 'revised'
  | 'policy'
  | 'votes'
  | 'error'
  | 'result'
  | 'resolution'
  | 'executor'
  | 'decidedAt'
  | 'redactedAt'
>

/** A text is cut after this many characters, with a note: the whole result is in `result`. */
const MOST_CHARACTERS = 20_000

/** Total: a new state does not compile until it is said here how it ends, or that it does not. */
const OUTCOMES: Readonly<Record<ActionState, (action: OutcomeFacts) => ActionOutcome | null>> = {
  proposed: () => null,
  approved: () => null,
  executing: () => null,
  succeeded: (action) => ({ status: 'succeeded', text: joined(successText(action), ranWith(action)) }),
  failed: (action) => ({ status: 'failed', text: joined(failureText(action), ranWith(action)) }),
  declined: declinedOutcome,
  expired: expiredOutcome,
  cancelled: cancelledOutcome,
  outcome_unknown: (action) => ({
    status: 'outcome_unknown',
    text: joined(
      `It is not known whether this was carried out (${action.id}). Do not do it again or in another way; a person will find out.`,
      ranWith(action),
    ),
  }),
}

/**
 * Returns how an action ended; null while it is not settled. It never says that something failed, or that nothing was carried out, where
 * that is not known.
 * @example
 * actionOutcome(action) // { status: 'declined', text: 'A person declined this (act_…). … They said: Wrong order.' }
 */
export function actionOutcome(action: OutcomeFacts): ActionOutcome | null {
  const outcome = OUTCOMES[action.state](action)
  const { id, error } = action
  // Its program carried it out although it was not allowed here.
  const text = error?.kind === 'ran_elsewhere' ? `${error.message} (${id}).` : outcome?.text
  return outcome && { ...outcome, text: shortenText(text ?? '') }
}

function successText({ description, result = null, resolution, redactedAt }: OutcomeFacts): string {
  if (redactedAt !== undefined) return 'This was carried out. Its result was removed from the record.'
  if (resolution) return `This was carried out: ${description}. ${resolution.by.name} found out, and says: ${resolution.note}`
  if (result === null || result === '') return `Done: ${description}.`
  return typeof result === 'string' ? result : JSON.stringify(withoutMedia(result))
}

const failureText = ({ id, error }: OutcomeFacts): string => `This failed (${id}): ${error?.message ?? 'the reason is not known'}`

function declinedOutcome(action: OutcomeFacts): ActionOutcome {
  const { id, policy } = action
  if (policy.verdict === 'deny') {
    const why = policy.reason === '' ? '' : `: ${policy.reason.replace(/\.$/, '')}`
    return { status: 'denied', text: `Policy does not allow this${why}. Nothing was carried out.` }
  }
  const reason = decidingReason(action)
  const said = reason === undefined ? '' : `They said: ${reason}`
  const text = `A person declined this (${id}). Nothing was carried out; do not try it again in another way.`
  return { status: 'declined', text: joined(text, said) }
}

/** Returns why an action expired, without a full stop. An action that was approved for a client expires if no client claims it in time. */
export function whyExpired(wasApproved: boolean): string {
  return wasApproved ? 'This was approved, but no client claimed it in time' : 'Nobody decided about this in time'
}

function expiredOutcome({ id, decidedAt }: OutcomeFacts): ActionOutcome {
  return { status: 'expired', text: `${whyExpired(decidedAt !== null)} (${id}). Nothing was carried out.` }
}

function cancelledOutcome({ id, error, executor, decidedAt }: OutcomeFacts): ActionOutcome {
  // The server does not know what the program does by itself.
  const here = decidedAt === null ? 'It was not approved here.' : 'It was approved here, and no client claimed it.'
  const end = executor === 'client' ? here : 'Nothing was carried out.'
  if (error?.kind === 'withdrawn' || error?.kind === 'ran_elsewhere') {
    return { status: 'withdrawn', text: `${error.message} (${id}). ${end}` }
  }
  const why = error === null ? '' : `${error.message.replace(/\.$/, '')}.`
  return { status: 'cancelled', text: joined(`This was cancelled before it began (${id}).`, why, 'Nothing was carried out.') }
}

/** Says with which arguments it ran, where they may not be those that were proposed; otherwise an empty text. */
export function ranWith({ revision, revised, arguments: args, redactedAt }: OutcomeFacts): string {
  if (revision === 1 || redactedAt !== undefined) return ''
  const shown = JSON.stringify(args)
  if (revised?.why === 'edit')
    return `Note: ${revised.by?.name ?? 'a person'} changed the arguments before approving. What ran had these: ${shown}`
  return `Note: what was approved is revision ${revision}, with these arguments: ${shown}`
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

/**
 * A text for a model, without the middle where it is longer than 20,000 characters. The notes stand at the end and are short: the beginning
 * and the end stay.
 */
export function shortenText(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text
  const cut = ' … (shortened; the whole is in the result) … '
  const end = 2_000
  return (text.slice(0, MOST_CHARACTERS - end - cut.length) + cut + text.slice(-end)).toWellFormed()
}
