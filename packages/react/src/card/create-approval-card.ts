import type { Action, ApiIssue, Remember } from '@countersign/client'
import { isHighRisk } from '@countersign/core/text'
import type { Arguments } from '../edits.ts'
import { actionOf, CHANGED, issuesOf, isUnanswered, sayError } from '../say-error.ts'
import { PAUSED_WORDS } from '../words.ts'
import { type CardFacts, type CardMemory, cardFacts, evidenceOf, momentOf, type Opened, restState, voteKey } from './card-facts.ts'
import type { CardInputs, Extra, Outcome, Verdict } from './card-inputs.ts'
import { type CardEvent, type CardState, NEXT } from './card-state.ts'

/** The current view of a card. Immutable; it keeps its identity until something changes. */
export type CardSnapshot = { state: 'loading' } | LoadedCard

export type LoadedCard = CardFacts & {
  state: Exclude<CardState, 'loading'>
  /** The result of the last attempt, or the step required first; empty otherwise. */
  notice: string
  /** The server's validation errors for the edited arguments. */
  issues: readonly ApiIssue[]
  /** Why nothing can be sent now: a request is on its way, or the connection is not live. */
  rest: '' | 'busy' | 'paused'
  /** The sentence for `rest: 'paused'`; null while the connection is live. */
  paused: string | null
  opened: Opened
  /** The rule to confirm in state `granting`, in words. */
  grantWords: string
}

type Work = (callbacks: CardInputs) => Promise<unknown>

const ARMED_MS = 3_000
/** A network can lose a request without a word, and a browser may wait a quarter of an hour for its answer. */
const ANSWER_MS = 60_000
const UNANSWERED = 'The server has not answered for a minute. It may still take this. You can press again.'
const VOTED = 'That is what you voted already.'

/**
 * Creates the logic of one approval card, without a view: a store with `subscribe` and `get`, and a method for each thing a person can do.
 * A method that is not possible in the current state does nothing. Give it new inputs with `update`; end it with `close`.
 *
 * It does not know where things are on the screen. A view must ignore a press that was aimed at something else (see `useCooldown`), and
 * must ask for {@link objectName} before a critical action is approved.
 *
 * @example
 * const card = createApprovalCard({
 *   action,
 *   me,
 *   onDecide: (verdict, details) => client.actions.decide(action.id, { verdict, ...details }),
 * })
 * card.subscribe(() => console.log(card.get().state))
 * card.approve() // 'sending', or 'confirming' for an action of high risk
 */
export const createApprovalCard = (inputs: CardInputs): ApprovalCardStore => new ApprovalCardStore(inputs)

/** The logic of one approval card: see {@link createApprovalCard}. */
export class ApprovalCardStore {
  #inputs: CardInputs
  #memory: CardMemory = { notice: undefined, issues: [], texts: new Set() }
  #facts: CardFacts | undefined
  #state: CardState
  #snapshot: CardSnapshot
  #opened: { version: string; texts: ReadonlySet<string>; opened: Opened } | undefined
  readonly #listeners = new Set<() => void>()
  #disarm = () => {}
  /** Counts requests: the answer to an earlier one is ignored once another action's is on its way. */
  #requests = 0

  constructor(inputs: CardInputs) {
    this.#inputs = inputs
    this.#facts = this.#readFacts()
    this.#state = restState(this.#facts, inputs, this.#memory)
    this.#snapshot = this.#read()
  }

  readonly get = (): CardSnapshot => this.#snapshot

  /** Calls `listener` after every change; returns what ends that. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const own = () => listener()
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** Ends the timer. The last snapshot stays readable. */
  close(): void {
    this.#disarm()
  }

  /** Takes the newest action, person and connection. */
  update(inputs: CardInputs): void {
    const before = this.#inputs
    this.#inputs = inputs
    const shown = this.#facts
    const isOther = shown !== undefined && shown.evidence !== evidenceOf(shown.action, inputs)
    if (isOther || before.action !== inputs.action || keyOf(before) !== keyOf(inputs)) this.#takeFacts()
  }

  /** Approves; with high risk, asks for a second step first and approves when called again. */
  approve(): void {
    const card = this.#ready()
    if (card === undefined || this.#isBlocked(card)) return
    if (isHighRisk(card.action) && card.state !== 'confirming') this.#move('confirm')
    else this.#decide('approve', card, card.edits.length === 0 ? {} : { arguments: card.edited })
  }

  decline(extra: Extra = {}): void {
    const card = this.#ready()
    if (card?.canDecide && card.voted !== 'decline') this.#decide('decline', card, extra)
  }

  /** Prepares an approval by Enter; the card leaves `armed` by itself after 3 s. */
  arm(): void {
    const card = this.#ready()
    if (card === undefined || this.#isBlocked(card)) return
    this.#move('arm', { notice: undefined })
  }

  /** Opens the form for a reason. */
  openDecline(): void {
    const card = this.#shown()
    if (card?.canDecide && !(card.voted === 'decline' && this.#block(VOTED))) this.#move('decline')
  }

  /** Leaves a form, a dialog or the armed state. */
  back(): void {
    this.#move('back')
  }

  /** Asks for a second step before later calls are approved automatically. */
  chooseGrant(terms: Remember, words: string): void {
    const card = this.#ready()
    if (!card?.offers.suggest || this.#isBlocked(card)) return
    this.#move('grant', { grant: { terms, words } })
  }

  /** Approves, and later calls as chosen. */
  confirmGrant(): void {
    const card = this.#ready()
    const { grant } = this.#memory
    if (card?.state === 'granting' && grant && !this.#isBlocked(card)) this.#decide('approve', card, { remember: grant.terms })
  }

  /** Takes edited arguments; `undefined` while the editor holds no complete value. */
  edit(value: Arguments | undefined): void {
    const { version, edited } = this.#facts ?? {}
    if (version && edited) this.#move('edit', { edited: { version, value: value ?? edited, isBroken: value === undefined } })
  }

  /** Lets a person who has voted vote again. */
  changeVote(): void {
    const { version, ownVote } = this.#facts ?? {}
    if (version && ownVote) this.#move('revote', { changing: voteKey(version, ownVote) })
  }

  lookAgain(): void {
    this.#request('lookAgain', async ({ onLookAgain }) => this.#take(await onLookAgain?.()), 'done')
  }

  /** Gives everybody who decides more time, once. */
  extend(): void {
    this.#request('extend', async ({ onExtend }) => onExtend?.(), 'done')
  }

  retry(): void {
    this.#request('retry', async ({ onRetry }) => onRetry?.())
  }

  /** A look-up that finds nothing new changes nothing that the stream would tell. */
  verify(): void {
    this.#request('verify', async ({ onVerify }) => onVerify?.(), 'done')
  }

  /** `attempt`: the one that the finding is about, so that it does not settle a later one. */
  resolve(...found: [outcome: Outcome, note: string, attempt?: number]): void {
    this.#request('resolve', async ({ onResolve }) => onResolve?.(...found))
  }

  carryOut(): void {
    this.#request('carryOut', async ({ onCarryOut }) => onCarryOut?.())
  }

  /** Takes the approval back, while nothing has started. */
  undo(): void {
    this.#request('undo', async ({ onUndo }) => onUndo?.())
  }

  #shown(): LoadedCard | undefined {
    return this.#snapshot.state === 'loading' ? undefined : this.#snapshot
  }

  /** The card, unless nothing can be sent now. */
  #ready(): LoadedCard | undefined {
    const card = this.#shown()
    return card?.rest === '' ? card : undefined
  }

  #isBlocked({ canDecide, blocked, voted }: LoadedCard): boolean {
    if (!canDecide) return true
    // Read again at the press: what was shown at the last update may be gone.
    return this.#block(blocked ?? this.#readFacts()?.blocked ?? (voted === 'approve' ? VOTED : ''))
  }

  #block(text: string): boolean {
    if (text !== '') this.#move('block', { notice: { kind: 'hint', text } })
    return text !== ''
  }

  #decide(verdict: Verdict, { action: { revision, digest } }: LoadedCard, extra: Extra): void {
    void this.#send(({ onDecide }) => onDecide(verdict, { revision, digest, ...extra }))
  }

  #request(offer: keyof CardFacts['offers'], work: Work, after?: 'done'): void {
    if (this.#ready()?.offers[offer]) void this.#send(work, after)
  }

  async #send(work: Work, after: 'accept' | 'done' = 'accept'): Promise<void> {
    const before = this.#facts?.action
    const at = momentOf(this.#facts)
    if (!this.#move('send', { notice: undefined, issues: [] })) return
    this.#requests += 1
    const request = this.#requests
    try {
      await this.#inTime(work(this.#inputs))
      if (request === this.#requests) this.#move(this.#facts?.action === before ? after : 'done')
    } catch (error) {
      if (request !== this.#requests) return
      const text = sayError(error, (this.#inputs.now ?? Date.now)())
      this.#move('refuse', { notice: { kind: 'refused', text, ...(isUnanswered(error) && { at }) }, issues: issuesOf(error) })
      this.#take(actionOf(error))
    }
  }

  /** Waits for an answer, for a while. Meanwhile the stream tells what became of the request. */
  async #inTime(answer: Promise<unknown>): Promise<void> {
    let stop = () => {}
    const late = new Promise((_, reject) => {
      stop = (this.#inputs.schedule ?? later)(() => reject(new Error(UNANSWERED)), ANSWER_MS)
    })
    await Promise.race([answer, late]).finally(stop)
  }

  /** Takes the action as an answer has it: the stream may bring it only later. */
  #take(answered: Action | undefined): void {
    if (answered) this.#takeFacts({ answered })
  }

  /** Works out what another action, person or connection means for the card. */
  #takeFacts(changed: Partial<CardMemory> = {}): void {
    const before = this.#facts
    this.#remember(changed)
    const facts = this.#facts
    const isOther = facts?.action.id !== before?.action.id
    // A person's own edit is no news to them, and neither is an action that no longer waits.
    const isNews = !isOther && facts?.action.state === 'proposed' && !this.#isOwnEdit(facts.action)
    const forgotten: Partial<CardMemory> = { notice: isNews ? { kind: 'changed', text: CHANGED } : undefined, issues: [] }
    this.#move(this.#eventOf(before, facts), facts?.version === before?.version ? {} : forgotten)
  }

  #eventOf(before: CardFacts | undefined, facts: CardFacts | undefined): CardEvent {
    if (facts === undefined || facts.action.id !== before?.action.id) return 'replace'
    if (before.canDecide && !facts.canDecide) return 'change'
    if (facts.version !== before.version) return 'revise'
    return facts.action === before.action ? 'surroundings' : 'update'
  }

  #isOwnEdit({ revised }: Action): boolean {
    return revised?.why === 'edit' && revised.by?.id === this.#inputs.me?.id
  }

  #remember(changed: Partial<CardMemory>): void {
    this.#memory = { ...this.#memory, ...changed }
    this.#facts = this.#readFacts()
    // The request may have arrived. Once the action shows that something did, nothing says any more that it did not.
    const { notice } = this.#memory
    if (notice?.at !== undefined && notice.at !== momentOf(this.#facts)) this.#memory = { ...this.#memory, notice: undefined }
  }

  #readFacts(): CardFacts | undefined {
    const { action: given } = this.#inputs
    const { answered } = this.#memory
    return given && cardFacts(answered && isLater(answered, given) ? answered : given, this.#inputs, this.#memory)
  }

  /** Moves by the table, with `changed` to remember, and tells it. False where the table allows no such event. */
  #move(event: CardEvent, changed: Partial<CardMemory> = {}): boolean {
    const before = this.#state
    const next = NEXT[before][event]
    if (next === 'no') return false
    this.#remember(changed)
    this.#state = next === 'rest' ? restState(this.#facts, this.#inputs, this.#memory) : next === 'same' ? before : next
    if (before !== this.#state) {
      this.#disarm()
      if (this.#state === 'armed') this.#disarm = (this.#inputs.schedule ?? later)(() => this.back(), ARMED_MS)
    }
    this.#tell()
    return true
  }

  #tell(): void {
    this.#snapshot = this.#read()
    for (const listener of [...this.#listeners]) listener()
  }

  #read(): CardSnapshot {
    if (this.#facts === undefined || this.#state === 'loading') return { state: 'loading' }
    const { notice, issues, grant } = this.#memory
    const { connection = 'live' } = this.#inputs
    const paused = connection === 'live' ? null : PAUSED_WORDS[connection]
    const rest = this.#state === 'sending' || this.#state === 'sent' ? 'busy' : paused === null ? '' : 'paused'
    const opened = this.#openedTexts(this.#facts.version)
    return { ...this.#facts, state: this.#state, notice: notice?.text ?? '', issues, rest, paused, opened, grantWords: grant?.words ?? '' }
  }

  /** The parts of this version that were opened. The functions keep the version: a text of an earlier one counts for nothing. */
  #openedTexts(version: string): Opened {
    const { texts } = this.#memory
    const held = this.#opened?.version === version ? this.#opened : undefined
    if (held?.texts === texts) return held.opened
    const add = (text: string) => {
      if (this.#memory.texts.has(text)) return
      this.#remember({ texts: new Set(this.#memory.texts).add(text) })
      this.#tell()
    }
    const opened = {
      has: (path: string) => texts.has(`${version} open ${path}`),
      open: held?.opened.open ?? ((path: string) => add(`${version} open ${path}`)),
      read: held?.opened.read ?? ((path: string) => add(`${version} read ${path}`)),
    }
    this.#opened = { version, texts, opened }
    return opened
  }
}

const isLater = (other: Action, than: Action): boolean =>
  other.id === than.id && (other.revision > than.revision || (other.revision === than.revision && other.updatedAt >= than.updatedAt))

/** Everything but the action that the facts follow from. Of callbacks, only whether they are there says something. */
const keyOf = ({ me, standsFor, connection, ...others }: CardInputs): string =>
  JSON.stringify([me, standsFor, connection, Object.entries(others).map(([name, value]) => value && name)])

const later = (run: () => void, delayMs: number): (() => void) => {
  const timer = setTimeout(run, delayMs)
  return () => clearTimeout(timer)
}
