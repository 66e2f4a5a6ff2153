import type { AuditActor, AuditEntryView, AuditKind } from '@countersign/client'
import { fullTime, STATE_WORDS, showInvisible, spanText } from '@countersign/react'

type Data = NonNullable<AuditEntryView['data']>

/** The words that a sentence is made from. */
interface Told {
  /** The name of the person or program that acted, as the first word of a sentence. */
  who: string
  /** The object of the sentence: the title in quotes, or `it`. */
  what: string
  /** A text of the row; empty where it has none. */
  text: (name: string) => string
  /** The name of the principal whose id the row has there. */
  name: (name: string) => string
  data: Data
}

/** Whether the rule that an action names is a grant (*Don't ask again*), which has an id for a name. */
export const isGrant = (rule: string | undefined): boolean => /^grant gra_/.test(rule ?? '')

/** ` (why)`, or nothing. */
const because = (why: string): string => (why === '' ? '' : `: ${why}`)
const attempt = ({ data }: Told): string => (typeof data.attempt === 'number' && data.attempt > 1 ? `, attempt ${data.attempt}` : '')
const errorOf = ({ data: { error } }: Told): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : ''
const listOf = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : '')
const standIn = (told: Told): string => (told.text('for') === '' ? '' : ` for ${told.name('for')}`)
/** A time of the row for people; another text stays what it is. */
const until = ({ text }: Told): string => {
  const given = text('until')
  return given === '' ? '' : ` until ${Number.isNaN(Date.parse(given)) ? given : fullTime(given)}`
}
const stateOf = ({ text }: Told): string => {
  const state = text('state')
  return Object.hasOwn(STATE_WORDS, state) ? STATE_WORDS[state as keyof typeof STATE_WORDS].word.toLowerCase() : state
}

function proposed({ who, what, text, data }: Told): string {
  const policy = data.policy as { verdict?: string; rule?: string } | null | undefined
  const agent = text('agent')
  const asked = agent === '' || agent === who ? `${who} asked for ${what}` : `${agent} asked for ${what}, on behalf of ${who}`
  if (policy?.verdict === 'allow') return `${asked}; allowed by ${isGrant(policy.rule) ? 'a grant' : `the rule ${policy.rule}`}`
  if (policy?.verdict === 'deny')
    return policy.rule === 'default' ? `${asked}; no rule matches, so it is denied` : `${asked}; denied by the rule ${policy.rule}`
  if (policy?.rule === undefined) return asked
  return policy.rule === 'default'
    ? `${asked}; no rule matches, so it needs approval`
    : `${asked}; it needs approval by the rule ${policy.rule}`
}

function askedAgain({ who, what, text }: Told): string {
  const reason = text('reason').replace(/\.$/, '')
  if (text('why') === 'edit') return `${who} edited ${what}`
  // The reason of what a person did names them already.
  return reason.startsWith(`${who} `)
    ? `${reason}; ${what} needs approval again`
    : `${who} sent ${what} back for approval${because(reason)}`
}

/** One sentence for each kind of row. A new kind does not compile until it has one. */
const SENTENCES: Readonly<Record<AuditKind, (told: Told) => string>> = {
  proposed,
  repeated: ({ who, what, data }) =>
    `${who} asked for ${what} again${typeof data.timesAsked === 'number' ? `, ${data.timesAsked} times so far` : ''}`,
  impossible: ({ who, text }) => `${who} asked for ${text('tool') || 'a call'}, which could not be done${because(text('reason'))}`,
  voted: (told) => `${told.who} voted to ${told.text('verdict') || 'decide'} ${told.what}${standIn(told)}${because(told.text('reason'))}`,
  approved: (told) => `${told.who} approved ${told.what}${standIn(told)}${because(told.text('reason'))}`,
  declined: (told) => `${told.who} declined ${told.what}${standIn(told)}${because(told.text('reason'))}`,
  expired: ({ what }) => `Nobody decided or claimed ${what} in time, so it expired`,
  cancelled: ({ who, what, text }) => `${who} cancelled ${what}${because(text('reason'))}`,
  asked_again: askedAgain,
  claimed: (told) => `${told.who} took ${told.what} to carry it out${attempt(told)}`,
  executing: (told) => `${told.who} started ${told.what}${attempt(told)}`,
  resent: (told) => `${told.who} sent ${told.what} again with the same key${attempt(told)}`,
  taken_over: ({ what }) => `Another process took over ${what}`,
  retried: (told) => `${told.who} ran ${told.what} again${attempt(told)}`,
  succeeded: (told) => `${told.what} was done${attempt(told)}`,
  failed: (told) => `${told.what} failed${because(errorOf(told))}`,
  outcome_unknown: (told) => `Nobody knows whether ${told.what} was done${because(errorOf(told))}`,
  resolved: (told) => `${told.who} settled ${told.what} as ${stateOf(told)}${because(told.text('note'))}`,
  verified: (told) =>
    told.text('found') === ''
      ? `${told.who} looked at the target: ${told.what} is ${stateOf(told)}`
      : `${told.who} looked at the target of ${told.what}, which settled nothing (${told.text('found')})`,
  checks_ended: ({ what }) => `The automatic checks of ${what} ended without an answer`,
  released: ({ who, what }) => `${who} released ${what} while everything was held`,
  voided: ({ who, what, text }) => `${who} voided ${what} while everything was held${because(text('note'))}`,
  withdrawn: ({ who, what, text }) => `${who} took ${what} back${because(text('reason'))}`,
  ran_elsewhere: ({ who, what, text }) => `${who} reports that ${text('ranBy')} ran ${what} without an approval`,
  redacted: ({ who, what, text }) => `${who} redacted ${what}${because(text('reason'))}`,
  approve_all: ({ who }) => `${who} approved everything else that this session asks for`,
  grant_made: ({ who, text }) => `${who} made a grant${text('tool') === '' ? '' : ` for ${text('tool')}`}`,
  grant_revoked: ({ who, text }) => `${who} revoked a grant${text('tool') === '' ? '' : ` for ${text('tool')}`}`,
  delegated: (told) => `${told.who} let ${told.name('to')} decide for ${told.name('from')}${until(told)}`,
  delegation_ended: ({ who, text, name }) =>
    text('from') === '' ? `${who} ended a delegation` : `${who} ended that ${name('to')} decides for ${name('from')}`,
  invited: ({ who, name }) => `${who} invited ${name('person')} to a session`,
  uninvited: ({ who, name }) => `${who} ended the invitation of ${name('person')} to a session`,
  session_renamed: ({ who }) => `${who} renamed a session`,
  session_deleted: ({ who }) => `${who} deleted a session`,
  escalated: ({ what, data }) => `${what} went to further people${because(listOf(data.roles))}`,
  extended: (told) => `${told.who} extended the deadline of ${told.what}${until(told)}`,
  assigned: ({ who, what, text, name }) => {
    const to = text('to') === '' ? text('role') && `the role ${text('role')}` : name('to')
    return to === '' ? `${who} assigned ${what} to nobody in particular` : `${who} assigned ${what} to ${to}`
  },
  policy_saved: ({ who, data, text }) =>
    `${who} saved ${typeof data.version === 'number' ? `version ${data.version} of ` : ''}the policy${because(text('reason'))}`,
  key_made: ({ who, name, text }) => `${who} made the key ${text('name')} for ${name('for')}`,
  key_accepted: ({ who, name, text }) => `${who} accepted the key ${text('name')} for ${name('for')}`,
  key_revoked: ({ who, name, text }) => `${who} revoked the key ${text('name')} of ${name('for')}`,
  embed_token_made: ({ who, text, data }) => `${who} vouched for ${text('name')}, with ${listOf(data.roles) || 'no roles'}`,
  webhook_made: ({ who, text }) => `${who} added a webhook to ${text('host')}`,
  webhook_changed: ({ who, text }) => `${who} changed the webhook to ${text('host')}`,
  webhook_rotated: ({ who, text }) => `${who} made a new secret for the webhook to ${text('host')}`,
  webhook_disabled: ({ who, text }) => `${who} disabled the webhook to ${text('host')}${because(text('why'))}`,
  webhook_deleted: ({ who, text }) => `${who} deleted the webhook to ${text('host')}`,
  principal_changed: ({ who, text, data }) => `${who} changed the roles of ${text('name')} to ${listOf(data.roles) || 'none'}`,
  person_disabled: ({ who, text }) => `${who} disabled ${text('name')}`,
  person_enabled: ({ who, text }) => `${who} enabled ${text('name')} again`,
  vote_voided: ({ who, what, name }) => `${who} took the vote of ${name('of')} on ${what} away`,
  run_stopped: ({ who, name }) => `${who} stopped a run because ${name('person')} was disabled`,
  signed_in: ({ who, text }) => `${who} signed in${text('how') === '' ? '' : ` (${text('how')})`}`,
  signed_out: ({ who, data }) => `${who} signed out${data.everywhere === true ? ' everywhere' : ''}`,
  refused: ({ who, text }) => `A request of ${who} was refused${because(text('why') || text('code'))}`,
  sign_in_refused: ({ text }) => `A sign-in was refused${because(text('reason'))}`,
  held: ({ text }) => `Everything was held${because(text('why'))}`,
  copy_accepted: ({ who }) => `${who} accepted this database as an installation of its own`,
  record_problem: ({ text }) => `The record does not match what was signed${because(text('why'))}`,
  record_accepted: ({ who, text }) => `${who} accepted the record as it was found${because(text('reason'))}`,
  record_memory_lost: ({ text }) => `The remembered head of the record was lost${because(text('why'))}`,
  tool_registered: ({ who, text }) => `${who} registered the tool ${text('tool') || text('name')}`,
  tool_changed: ({ who, text }) => `${who} changed the tool ${text('tool') || text('name')}`,
  tool_removed: ({ who, text }) => `${who} removed the tool ${text('tool') || text('name')}`,
  tool_accepted: ({ who, text }) => `${who} accepted what changed in the tool ${text('tool')}`,
  archived: ({ data }) => `Events of ${data.sessions ?? 'some'} sessions were archived`,
}

const isKind = (text: string): text is AuditKind => Object.hasOwn(SENTENCES, text)

/** The name of the server as an actor. */
export const SYSTEM_NAME = 'The server'

const nameOf = ({ kind, name }: AuditActor): string => (kind === 'system' ? SYSTEM_NAME : name)

/**
 * One row of the record as a sentence. Nothing in it is invisible, whoever wrote it.
 * @param about What it was done to: `“Refund 40.00 to Bo”`, or `it`.
 * @param names The names of principals by their ids.
 * @example
 * sentenceOf(row, '“Refund 40.00 to Bo”', names) // Ana approved “Refund 40.00 to Bo”
 */
export function sentenceOf(
  { kind, actor, data }: Pick<AuditEntryView, 'kind' | 'actor' | 'data'>,
  about: string,
  names: Readonly<Record<string, string>>,
): string {
  const facts = data ?? {}
  const text = (name: string): string => {
    const value = facts[name]
    return typeof value === 'string' ? value : ''
  }
  const told = {
    who: nameOf(actor),
    what: about,
    text,
    data: facts,
    name: (name: string) => names[text(name)] ?? (text(name) || 'somebody'),
  }
  // A newer server has kinds that this page does not know.
  const sentence = isKind(kind) ? SENTENCES[kind](told) : `${told.who}: ${kind}`
  // A row that lacks a name leaves a gap. A name keeps its own spelling.
  return showInvisible(
    sentence
      .replaceAll(/ {2,}/g, ' ')
      .trim()
      .replace(/^(it|an action) /, (word) => word.charAt(0).toUpperCase() + word.slice(1)),
  )
}

/**
 * Returns words for the end of the sentence about a decision: which revision the decider had on screen, and how long before.
 * @param seenAt When it was there first, as their page reported it.
 * @example
 * seenWords(row, seenAt) // revision 2 was on Ana’s screen 3 min before
 */
export function seenWords({ actor, at, data }: Pick<AuditEntryView, 'actor' | 'at' | 'data'>, seenAt: string): string {
  const revision = typeof data?.revision === 'number' ? `revision ${data.revision}` : 'it'
  return showInvisible(`${revision} was on ${nameOf(actor)}’s screen ${spanText(Date.parse(at) - Date.parse(seenAt))} before`)
}

/** The title of an action in quotes; words for one without. */
export const quotedTitle = (title: string | undefined): string => (title === undefined ? 'an action' : `“${title}”`)
