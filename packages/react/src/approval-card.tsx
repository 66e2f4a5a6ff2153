import type { Action, Remember } from '@countersign/client'
import { isHighRisk, showInvisible } from '@countersign/core/text'
import { type FocusEvent, type KeyboardEvent, useCallback, useId, useRef, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { readCardKey } from './card-keys.ts'
import type { ApprovalCardProps, Extra } from './card-props.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { DecideRow } from './decide-row.tsx'
import { EditSection, Edits } from './edit-section.tsx'
import { editCount } from './edits.ts'
import { Evidence } from './evidence.tsx'
import { ownVote, whyNot } from './may-decide.ts'
import { OpenedTexts } from './opened-texts.ts'
import { outcomeText } from './outcome.ts'
import { OwnVote } from './own-vote.tsx'
import { RememberSection } from './remember-section.tsx'
import { Settled } from './settled.tsx'
import { ActionFacts, StateMark } from './status-bar.tsx'
import { spanText } from './time.ts'
import { useCooldown } from './use-cooldown.ts'
import { type Step, useDecision } from './use-decision.ts'
import { useEdits } from './use-edits.ts'
import { useLatest } from './use-latest.ts'
import { useOpened } from './use-opened.ts'
import { useTick } from './use-tick.ts'
import { mayGrant, PAUSED_WORDS, RISK_WORDS } from './words.ts'

const LABEL_CHARS = 48

/**
 * One action of an agent, for a person to judge and decide; after that, its outcome in one line with the details behind it. It
 * shows only what the server said, takes no focus by itself, and every text on it is plain. Needs `@countersign/react/card.css`.
 *
 * @example
 * <ApprovalCard
 *   action={action}
 *   me={me}
 *   connection={connection.kind}
 *   onDecide={(verdict, details) => client.actions.decide(action.id, { verdict, ...details })}
 *   onRetry={() => client.actions.retry(action.id)}
 * />
 */
export function ApprovalCard(props: ApprovalCardProps) {
  const { me, now = Date.now, connection = 'live', runHref, headingLevel = 3, shortcuts = true, offerStop = false } = props
  const { onRetry, onVerify, onResolve, onCarryOut, onLookAgain, editor, onSuggest, standsFor } = props
  const { action, take } = useLatest(props.action)
  const { agentSays = action.agentSays ?? '' } = props
  const Heading = `h${headingLevel}` as const
  const id = useId()
  const card = useRef<HTMLElement>(null)
  const row = useRef<HTMLDivElement>(null)
  const decision = useDecision(props, action, take)
  const { step, setStep, notice } = decision
  const nowMs = now()
  useTick(tickMs(action, nowMs))

  const version = `${action.revision} ${action.digest}`
  const { opened, isHidden, leftChars, next, wasHidden } = useOpened(action, version)
  const { edited, edits, isBroken, edit } = useEdits(action, version)
  const description = showInvisible(action.description)
  const withEdits = edits.length === 0 ? '' : ` with ${editCount(edits.length)}`
  const hint = isBroken ? BROKEN_WORDS : isHidden ? hiddenWords(leftChars) : null
  const waiting = action.state === 'proposed'
  const refusal = waiting ? whyNot(action, me, standsFor) : null
  const own = waiting && refusal === null ? ownVote(action, me) : undefined
  // Which vote is being changed: once another has taken its place, nothing is any more.
  const [changing, setChanging] = useState('')
  const ownVersion = own && `${version} ${own.verdict} ${own.at}`
  const isChanging = ownVersion === changing
  const deciding = waiting && refusal === null && (own === undefined || isChanging)
  // Other arguments are another vote, too.
  const voted = own?.verdict === 'approve' && edits.length > 0 ? undefined : own?.verdict
  const mayAct = whyNot(action, me) === null
  const toCarryOut = action.state === 'approved' && action.executor === 'client' && onCarryOut !== undefined && mayAct
  const { rest, isReady, ignored } = useCooldown(row, `${version} ${action.state} ${refusal} ${deciding} ${JSON.stringify(edits)}`)
  const paused = connection === 'live' ? null : PAUSED_WORDS[connection]
  const stopped: Rest = step === 'sending' || step === 'sent' ? 'busy' : paused === null ? '' : 'paused'
  const resting = stopped || rest
  const canAct = (by: 'pointer' | 'key' = 'pointer') => !stopped && isReady(by)

  const [grant, setGrant] = useState<{ version: string; terms: Remember; words: string } | null>(null)
  const focusCard = useCallback(() => card.current?.focus({ preventScroll: true }), [])
  const moveTo = (next: Step) => {
    if (card.current?.contains(document.activeElement)) focusCard()
    setStep(next)
  }
  const sendApproval = () => void decision.send('approve', edits.length === 0 ? {} : { arguments: edited })
  const approve = (by: 'pointer' | 'key') => {
    if (!deciding || !canAct(by)) return
    if (hint !== null || voted === 'approve') decision.setNotice(hint ?? VOTED_WORDS)
    else if (isHighRisk(action)) setStep('confirming')
    else sendApproval()
  }
  const decline = (extra?: Extra) => {
    if (!deciding || voted === 'decline' || !canAct()) return
    if (step === 'declining') focusCard()
    void decision.send('decline', extra)
  }
  const retry = () => {
    if (canAct()) void decision.retry()
  }

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!deciding) return
    const key = readCardKey(event, step === 'armed', shortcuts)
    if (key === undefined) return
    event.preventDefault()
    if (key === 'disarm') setStep('idle')
    else if (key === 'commit') {
      setStep('idle')
      approve('key')
    } else if (!canAct('key')) return
    else if (key === voted || (key === 'arm' && voted === 'approve')) decision.setNotice(VOTED_WORDS)
    else if (key === 'decline') setStep('declining')
    else if (hint !== null) decision.setNotice(hint)
    else {
      decision.setNotice('')
      setStep('armed')
      focusCard()
    }
  }
  const onFocus = (event: FocusEvent<HTMLElement>) => {
    // Armed, Enter means "approve" on the card alone; on anything else it keeps its own meaning.
    if (step === 'armed' && event.target !== event.currentTarget) setStep('idle')
  }

  const settled = !waiting && action.state !== 'approved' && action.state !== 'executing'
  const overdue = waiting && action.overdue
  const hasExpiry = waiting && action.expiresAt !== null
  const evidence = (
    <Evidence
      action={action}
      nowMs={nowMs}
      riskId={`${id}-risk`}
      expiryId={`${id}-expiry`}
      agentSays={agentSays}
      runHref={runHref}
      onLookAgain={deciding && onLookAgain ? () => stopped || void decision.lookAgain() : undefined}
    />
  )
  return (
    <OpenedTexts.Provider value={opened}>
      <article
        ref={card}
        className="cs-card"
        data-testid="approval-card"
        data-state={action.state}
        data-risk={action.risk.level}
        data-overdue={overdue || undefined}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a card is a stop of its own, so that a keyboard reaches it before its buttons
        tabIndex={0}
        aria-labelledby={`${id}-title`}
        aria-describedby={settled ? undefined : `${overdue ? `${id}-overdue ` : ''}${id}-risk${hasExpiry ? ` ${id}-expiry` : ''}`}
        onKeyDown={onKeyDown}
        onFocus={onFocus}
      >
        {overdue ? (
          <p id={`${id}-overdue`} className="cs-overdue">
            Overdue: undecided for {spanText(nowMs - Date.parse(action.createdAt))}
          </p>
        ) : null}
        <p className="cs-bar">
          <StateMark action={action} />
          {settled ? null : <ActionFacts action={action} />}
        </p>
        <Heading id={`${id}-title`} className="cs-title" dir="auto">
          {description}
        </Heading>
        {settled ? (
          <Settled
            action={action}
            nowMs={nowMs}
            rowRef={row}
            resting={resting}
            onRetry={onRetry && mayAct ? retry : undefined}
            onVerify={onVerify && mayAct ? () => canAct() && void decision.verify() : undefined}
            onResolve={onResolve && mayAct ? (outcome, note) => canAct() && void decision.resolve(outcome, note) : undefined}
            onFocusLost={focusCard}
          >
            {evidence}
          </Settled>
        ) : (
          evidence
        )}
        {waiting || settled ? null : <p className="cs-outcome">{outcomeText(action, nowMs)}</p>}
        {toCarryOut ? (
          <div ref={row} className="cs-buttons">
            <CardButton rest={resting} onClick={() => canAct() && void decision.carryOut()}>
              Carry out here
            </CardButton>
          </div>
        ) : null}
        {refusal === null ? null : <p className="cs-readonly">{showInvisible(refusal)}</p>}
        {own === undefined ? null : (
          <OwnVote
            vote={own}
            isChanging={isChanging}
            onChange={() => {
              focusCard()
              setChanging(ownVersion ?? '')
            }}
          />
        )}
        {deciding && paused !== null ? <p className="cs-paused">{paused}</p> : null}
        {deciding && editor ? (
          <EditSection
            editor={editor}
            action={action}
            value={edited}
            onChange={edit}
            issues={decision.issues}
            edits={edits}
            isBroken={isBroken}
            onReset={() => edit(action.arguments)}
          />
        ) : null}
        {deciding && onSuggest && edits.length === 0 && mayGrant(action) ? (
          <RememberSection
            action={action}
            onSuggest={onSuggest}
            resting={resting || (hint === null ? '' : 'blocked')}
            onChoose={(terms, words) => setGrant({ version, terms, words })}
          />
        ) : null}
        {deciding && (hint !== null || wasHidden) ? (
          <div className="cs-paused">
            <p id={`${id}-why`} aria-live="polite">
              {hint ?? (leftChars === 0 ? 'Everything was shown.' : `${charsText(leftChars)} are still hidden.`)}
            </p>
            {isHidden && next !== undefined ? (
              <CardButton className="cs-small" onClick={() => goTo(card.current, next)}>
                Go to what is hidden
              </CardButton>
            ) : null}
          </div>
        ) : null}
        <p role="status" className="cs-status">
          {waiting || step !== 'armed' ? statusText(step, ignored || notice, `${withEdits}: ${description}`) : ''}
        </p>
        {deciding ? (
          <DecideRow
            rowRef={row}
            step={step}
            approveLabel={edits.length === 0 ? `Approve: ${shorten(description)}` : `Approve${withEdits}`}
            voted={voted}
            resting={resting}
            blocked={hint !== null}
            whyId={`${id}-why`}
            offerStop={offerStop}
            onApprove={() => approve('pointer')}
            onDecline={decline}
            onStep={moveTo}
            onFocusLost={focusCard}
          />
        ) : null}
        {deciding && step === 'confirming' ? (
          <ConfirmDialog
            action={action}
            title={`Approve${withEdits}: ${description}?`}
            resting={stopped}
            onConfirm={sendApproval}
            onCancel={() => setStep('idle')}
            onLeave={focusCard}
          >
            <p>
              {RISK_WORDS[action.risk.level]}. Runs <code>{showInvisible(action.tool)}</code> at {showInvisible(action.destination)}.
            </p>
            {edits.length === 0 ? null : <Edits edits={edits} />}
          </ConfirmDialog>
        ) : null}
        {deciding && grant?.version === version ? (
          <ConfirmDialog
            action={action}
            title="Approve, and don’t ask again?"
            resting={stopped}
            onConfirm={() => {
              setGrant(null)
              void decision.send('approve', { remember: grant.terms })
            }}
            onCancel={() => setGrant(null)}
            onLeave={focusCard}
          >
            <p>{grant.words}. It can be revoked at any time.</p>
          </ConfirmDialog>
        ) : null}
      </article>
    </OpenedTexts.Provider>
  )
}

const charsText = (chars: number): string => `${chars.toLocaleString('en')} characters of this action`
const hiddenWords = (chars: number): string => `${charsText(chars)} are still hidden. Open them and scroll to their end before you approve.`
const VOTED_WORDS = 'That is what you voted already.'
const BROKEN_WORDS = 'What you edited is not complete yet.'

/** Puts the focus on a part of the card: its button, or the box in which it scrolls. */
function goTo(card: HTMLElement | null, path: string): void {
  const parts = [...(card?.querySelectorAll<HTMLElement>('[data-part]') ?? [])]
  const part = parts.find((element) => element.dataset.part === path)
  const disclosure = part?.closest('details')
  if (disclosure) disclosure.open = true
  part?.focus()
}

function statusText(step: Step, notice: string, words: string): string {
  if (step === 'sending') return 'Sending…'
  if (step === 'sent') return 'Sent. Waiting for the server.'
  if (step === 'armed') return `Press Enter to approve${words}`
  return notice
}

/** A running action counts seconds, one about to expire too; a settled one rests. */
function tickMs({ state, expiresAt }: Action, nowMs: number): number | null {
  if (state === 'executing') return 1_000
  if (state !== 'proposed') return null
  return expiresAt !== null && Date.parse(expiresAt) - nowMs < 90_000 ? 1_000 : 15_000
}

/** Never cut within what is spelled out. */
const shorten = (text: string): string =>
  text.length <= LABEL_CHARS
    ? text
    : `${text
        .slice(0, LABEL_CHARS - 1)
        .replace(/⟦[^⟧]*$/, '')
        .trimEnd()}…`
