import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { type FocusEvent, type KeyboardEvent, useCallback, useId, useMemo, useRef, useState } from 'react'
import { readCardKey } from './card-keys.ts'
import type { ApprovalCardProps } from './card-props.ts'
import { longRowPaths } from './change-rows.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { DecideRow } from './decide-row.tsx'
import { Evidence } from './evidence.tsx'
import { longPaths } from './json-text.tsx'
import { OpenedTexts } from './long-text.tsx'
import { whyNot } from './may-decide.ts'
import { outcomeText } from './outcome.ts'
import { Settled } from './settled.tsx'
import { ActionFacts, StateMark } from './status-bar.tsx'
import { useCooldown } from './use-cooldown.ts'
import { type Step, useDecision } from './use-decision.ts'
import { useTick } from './use-tick.ts'
import { isHighRisk, PAUSED_WORDS } from './words.ts'

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
  const { action, me, now = Date.now, connection = 'live', onRetry, agentSays = action.agentSays ?? '', runHref, headingLevel = 3 } = props
  const { shortcuts = true, offerStop = false, onVerify, onResolve, onCarryOut } = props
  const Heading = `h${headingLevel}` as const
  const id = useId()
  const card = useRef<HTMLElement>(null)
  const row = useRef<HTMLDivElement>(null)
  const decision = useDecision(props)
  const { step, setStep, notice } = decision
  const nowMs = now()
  useTick(tickMs(action, nowMs))

  const version = `${action.revision} ${action.digest}`
  const { opened, blocked } = useOpened(action, version)
  const waiting = action.state === 'proposed'
  const refusal = waiting ? whyNot(action, me) : null
  const deciding = waiting && refusal === null
  // Votes do not matter here: who decided may also find out what came of it.
  const mayAct = whyNot({ ...action, votes: [] }, me) === null
  const toCarryOut = action.state === 'approved' && action.executor === 'client' && onCarryOut !== undefined && mayAct
  const { cooling, isReady } = useCooldown(row, `${version} ${action.state} ${refusal}`)
  const busy = step === 'sending' || step === 'sent'
  const paused = connection === 'live' ? null : PAUSED_WORDS[connection]
  const resting = cooling || busy || paused !== null
  const canAct = (by: 'pointer' | 'key' = 'pointer') => !busy && paused === null && isReady(by)

  const focusCard = useCallback(() => card.current?.focus({ preventScroll: true }), [])
  const moveTo = (next: Step) => {
    if (card.current?.contains(document.activeElement)) focusCard()
    setStep(next)
  }
  const approve = (by: 'pointer' | 'key') => {
    if (!deciding || !canAct(by)) return
    if (blocked) decision.setNotice(HIDDEN_WORDS)
    else if (isHighRisk(action)) setStep('confirming')
    else void decision.send('approve')
  }
  const decline = (extra?: { reason?: string; stop?: boolean }) => {
    if (!deciding || !canAct()) return
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
    else if (key === 'decline') setStep('declining')
    else if (blocked) decision.setNotice(HIDDEN_WORDS)
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
  const hasExpiry = waiting && action.expiresAt !== null
  const evidence = (
    <Evidence action={action} nowMs={nowMs} riskId={`${id}-risk`} expiryId={`${id}-expiry`} agentSays={agentSays} runHref={runHref} />
  )
  return (
    <OpenedTexts.Provider value={opened}>
      <article
        ref={card}
        className="cs-card"
        data-testid="approval-card"
        data-state={action.state}
        data-risk={action.risk.level}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a card is a stop of its own, so that a keyboard reaches it before its buttons
        tabIndex={0}
        aria-labelledby={`${id}-title`}
        aria-describedby={settled ? undefined : `${id}-risk${hasExpiry ? ` ${id}-expiry` : ''}`}
        onKeyDown={onKeyDown}
        onFocus={onFocus}
      >
        <p className="cs-bar">
          <StateMark state={action.state} />
          {settled ? null : <ActionFacts action={action} />}
        </p>
        <Heading id={`${id}-title`} className="cs-title" dir="auto">
          {showInvisible(action.description)}
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
            <button type="button" className="cs-button" aria-disabled={resting} onClick={() => canAct() && void decision.carryOut()}>
              Carry out here
            </button>
          </div>
        ) : null}
        {refusal === null ? null : <p className="cs-readonly">{showInvisible(refusal)}</p>}
        {deciding && paused !== null ? <p className="cs-paused">{paused}</p> : null}
        {deciding && blocked ? <p className="cs-paused">{HIDDEN_WORDS}</p> : null}
        <p role="status" className="cs-status">
          {statusText(step, notice, action)}
        </p>
        {deciding ? (
          <DecideRow
            rowRef={row}
            step={step}
            approveLabel={`Approve: ${shorten(showInvisible(action.description))}`}
            resting={resting}
            blocked={blocked}
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
            resting={busy || paused !== null}
            onConfirm={() => void decision.send('approve')}
            onCancel={() => setStep('idle')}
            onLeave={focusCard}
          />
        ) : null}
      </article>
    </OpenedTexts.Provider>
  )
}

const HIDDEN_WORDS = 'Open the hidden text before you approve.'

function statusText(step: Step, notice: string, action: Action): string {
  if (step === 'sending') return 'Sending…'
  if (step === 'sent') return 'Sent. Waiting for the server.'
  if (step === 'armed' && action.state === 'proposed') return `Press Enter to approve: ${showInvisible(action.description)}`
  return notice
}

/** A running action counts seconds, one about to expire too; a settled one rests. */
function tickMs({ state, expiresAt }: Action, nowMs: number): number | null {
  if (state === 'executing') return 1_000
  if (state !== 'proposed') return null
  return expiresAt !== null && Date.parse(expiresAt) - nowMs < 90_000 ? 1_000 : 15_000
}

const shorten = (text: string): string => (text.length <= LABEL_CHARS ? text : `${text.slice(0, LABEL_CHARS - 1).trimEnd()}…`)

/** Which long texts this person opened, for exactly this version of the action, and whether one that must be seen is not. */
function useOpened(action: Action, version: string) {
  const [paths, setPaths] = useState<ReadonlySet<string>>(new Set())
  const opened = useMemo(
    () => ({
      has: (path: string) => paths.has(`${version} ${path}`),
      open: (path: string) => setPaths((before) => new Set(before).add(`${version} ${path}`)),
    }),
    [paths, version],
  )
  const long = useMemo(() => [...longPaths(action.arguments, 'arguments'), ...longRowPaths(action.preview)], [action])
  return { opened, blocked: isHighRisk(action) && long.some((path) => !opened.has(path)) }
}
