import type { Action, ApiIssue, Remember, Vote } from '@countersign/client'
import { hiddenCharacters, hiddenParts, MAX_HIDDEN_CHARS, needsOpening } from '@countersign/core/text'
import { type Arguments, type Edit, listEdits } from '../edits.ts'
import { ownVote, whyNot } from '../may-decide.ts'
import { mayGrant } from '../words.ts'
import type { CardInputs, Evidence, Verdict } from './card-inputs.ts'
import type { RestState } from './card-state.ts'

/** The texts of a card that a person has opened, and those that they have read to the end, by path. */
export type Opened = { has: (path: string) => boolean; open: (path: string) => void; read: (path: string) => void }

/** The person's input on one card and the server's last answer. Edits, texts and votes count for one version only. */
export type CardMemory = {
  /** The action as an answer of the server had it. */
  answered?: Action | undefined
  /** `at`: of a request without an answer, what {@link momentOf} said when it was sent. */
  notice: { kind: 'changed' | 'refused' | 'hint'; text: string; at?: string } | undefined
  issues: readonly ApiIssue[]
  edited?: { version: string; value: Arguments; isBroken: boolean } | undefined
  /** The vote that the person wants to change. */
  changing?: string | undefined
  grant?: { terms: Remember; words: string } | undefined
  /** "version open path" and "version read path". */
  texts: ReadonlySet<string>
}

/** The facts and options that a card shows for an action, apart from its state. */
export type CardFacts = {
  action: Action
  /** Names what a decision is about: another id, revision or digest is another version. */
  version: string
  /** Why this person cannot decide, as a sentence; null when they can, or when there is nothing to decide. */
  refusal: string | null
  /** The vote of this person, while others must decide too. */
  ownVote: Vote | undefined
  isChangingVote: boolean
  canDecide: boolean
  /** The verdict that would change nothing: the person gave it before. */
  voted: Verdict | undefined
  /** The arguments as edited so far; the last complete ones while `isBroken`. */
  edited: Arguments
  edits: readonly Edit[]
  /** True while the editor holds no complete value. */
  isBroken: boolean
  /** Whether everything that must be seen is on the page, as the view says. */
  evidence: Evidence
  /** Why nothing can be approved yet; null when it can. */
  blocked: string | null
  /** The parts that must be read before approval. */
  reading: Reading
  offers: Readonly<Record<'suggest' | 'lookAgain' | 'retry' | 'verify' | 'resolve' | 'carryOut' | 'undo' | 'extend', boolean>>
}

export type Reading = {
  isHidden: boolean
  /** How many characters have not been shown yet. */
  leftChars: number
  /** The path of the first part that was not read yet. */
  next: string | undefined
  /** True when this action had something to read at all. */
  wasHidden: boolean
}

export const charsText = (chars: number): string => `${chars.toLocaleString('en')} characters of this action`
const BROKEN = 'What you edited is not complete yet.'
export const NOT_LOADED = 'A part of this card could not be loaded. Reload the page.'
const NOT_SHOWN = {
  loading: 'A part of this card is still loading.',
  failed: NOT_LOADED,
  ready: null,
} as const

/** Works out what a card shows of `action` to this person. */
export function cardFacts(action: Action, inputs: CardInputs, memory: CardMemory): CardFacts {
  const { me, standsFor } = inputs
  const version = `${action.id} ${action.revision} ${action.digest}`
  const isWaiting = action.state === 'proposed'
  const refusal = isWaiting ? whyNot(action, me, standsFor) : null
  const mayVote = isWaiting && refusal === null
  const own = mayVote ? ownVote(action, me) : undefined
  const isChangingVote = own !== undefined && memory.changing === voteKey(version, own)
  const canDecide = mayVote && (!own || isChangingVote)
  const current = memory.edited?.version === version ? memory.edited : undefined
  const edited = current?.value ?? action.arguments
  const edits = listEdits(action.arguments, edited)
  const isBroken = current?.isBroken ?? false
  const reading = readingOf(action, version, memory.texts)
  const evidence = evidenceOf(action, inputs)
  const hidden = `${charsText(reading.leftChars)} are still hidden. Open them and scroll to their end before you approve.`
  return {
    action,
    version,
    refusal,
    ownVote: own,
    isChangingVote,
    canDecide,
    // With other arguments it would be another vote.
    voted: own?.verdict === 'approve' && edits.length > 0 ? undefined : own?.verdict,
    edited,
    edits,
    isBroken,
    evidence,
    blocked: isBroken ? BROKEN : (NOT_SHOWN[evidence] ?? (reading.isHidden ? hidden : null)),
    reading,
    offers: offersOf(action, inputs, canDecide, edits.length > 0),
  }
}

/** Whether the view shows all of this action now. */
export const evidenceOf = (action: Action, { evidence }: CardInputs): Evidence => evidence?.(action) ?? 'ready'

/** Names what a request may change: how far the action is, and this person's vote. */
export const momentOf = (facts: CardFacts | undefined): string => `${facts?.action.state} ${facts?.ownVote?.at}`

/** Names one vote: once another has taken its place, it is not being changed any more. */
export const voteKey = (version: string, vote: Vote): string => `${version} ${vote.verdict} ${vote.at}`

function offersOf(action: Action, inputs: CardInputs, canDecide: boolean, isEdited: boolean): CardFacts['offers'] {
  const { state, executor, error } = action
  const may = whyNot(action, inputs.me) === null
  const isUnknown = may && state === 'outcome_unknown'
  const mayStart = state === 'approved' && (may || isOwnApproval(action, inputs))
  return {
    suggest: canDecide && inputs.onSuggest !== undefined && !isEdited && mayGrant(action),
    lookAgain: canDecide && inputs.onLookAgain !== undefined,
    extend: canDecide && inputs.onExtend !== undefined && action.extendableUntil !== undefined && !action.extension,
    retry: may && state === 'failed' && inputs.onRetry !== undefined,
    verify: isUnknown && inputs.onVerify !== undefined && error?.retryable === true,
    resolve: isUnknown && inputs.onResolve !== undefined,
    carryOut: mayStart && executor === 'client' && inputs.onCarryOut !== undefined,
    // A client's action without votes was allowed by policy or a grant: there is no approval to take back.
    undo: mayStart && Boolean(executor === 'client' ? action.votes[0] : action.startsAt) && inputs.onUndo !== undefined,
  }
}

/** True for a delegate's own approval: they may carry it out, or take it back, but nothing that comes later. */
const isOwnApproval = (action: Action, { me, standsFor }: CardInputs): boolean =>
  ownVote(action, me)?.verdict === 'approve' && whyNot({ ...action, votes: [] }, me, standsFor) === null

function readingOf(action: Action, version: string, texts: ReadonlySet<string>): Reading {
  const parts = new Map(hiddenParts(action).map((part) => [part.path, part]))
  const isRead = (path: string): boolean => {
    const part = parts.get(path)
    if (part?.isFolded && !texts.has(`${version} open ${path}`)) return false
    return (part?.isFolded && part.chars <= MAX_HIDDEN_CHARS) || texts.has(`${version} read ${path}`)
  }
  return {
    isHidden: needsOpening(action, isRead),
    leftChars: hiddenCharacters(action, isRead),
    next: [...parts.keys()].find((path) => !isRead(path)),
    wasHidden: needsOpening(action),
  }
}

/** The state in which a card with these facts rests. */
export function restState(facts: CardFacts | undefined, inputs: CardInputs, { notice }: CardMemory): RestState {
  if (facts === undefined) return 'loading'
  const { action, canDecide, ownVote, edits, isBroken } = facts
  if (action.state !== 'proposed') return STATES[action.state]
  if (!canDecide) return ownVote ? 'voted' : 'readonly'
  if ((inputs.connection ?? 'live') !== 'live') return 'offline'
  if (notice && notice.kind !== 'hint') return notice.kind
  return edits.length > 0 || isBroken ? 'editing' : 'waiting'
}

const STATES: Readonly<Record<Exclude<Action['state'], 'proposed'>, RestState>> = {
  approved: 'running',
  executing: 'running',
  succeeded: 'decided',
  failed: 'decided',
  declined: 'decided',
  cancelled: 'decided',
  expired: 'expired',
  outcome_unknown: 'unknown',
}
