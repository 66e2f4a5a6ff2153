import type { Action, ApiIssue } from '@countersign/client'
import { useEffect, useRef, useState } from 'react'
import type { ApprovalCardProps, Extra, Outcome, Verdict } from './card-props.ts'
import { actionOf, CHANGED, issuesOf, sayError } from './say-error.ts'

/** Where a person stands with a card. `sent`: the server took the decision and the card waits to see it in the action itself. */
export type Step = 'idle' | 'armed' | 'confirming' | 'declining' | 'sending' | 'sent'

export type Decision = {
  step: Step
  setStep: (step: Step) => void
  notice: string
  setNotice: (notice: string) => void
  /** What the server said is wrong with the edited arguments. */
  issues: readonly ApiIssue[]
  send: (verdict: Verdict, extra?: Extra) => Promise<void>
  lookAgain: () => Promise<void>
  retry: () => Promise<void>
  verify: () => Promise<void>
  resolve: (outcome: Outcome, note: string) => Promise<void>
  carryOut: () => Promise<void>
}

const ARMED_MS = 3_000

/**
 * Sends decisions about `action`, one at a time, and says what became of them.
 * @param onNews Takes the action as the server knows it, where an answer has it.
 */
export function useDecision(props: ApprovalCardProps, action: Action, onNews: (action: Action) => void): Decision {
  const { onDecide, onRetry, onVerify, onResolve, onCarryOut, onLookAgain, now = Date.now } = props
  const [issues, setIssues] = useState<readonly ApiIssue[]>([])
  const [step, setStep] = useState<Step>('idle')
  const [notice, setNotice] = useState('')
  const busy = useRef(false)
  const latest = useRef<Action>(action)
  const { revision, digest } = action
  const version = `${revision} ${digest}`
  const shown = useRef(version)
  const isOwn = action.revised?.why === 'edit' && action.revised.by?.id === props.me?.id

  useEffect(() => {
    latest.current = action
    setStep((step) => (step === 'sent' ? 'idle' : step))
  }, [action])

  useEffect(() => {
    if (shown.current === version) return
    shown.current = version
    // What this person changed themselves, and what nobody is asked about any more, is no news to warn of.
    setNotice(action.state === 'proposed' && !isOwn ? CHANGED : '')
    setIssues([])
    setStep((step) => (step === 'sending' ? step : 'idle'))
  }, [version, action.state, isOwn])

  useEffect(() => {
    if (step !== 'armed') return
    const timer = setTimeout(() => setStep('idle'), ARMED_MS)
    return () => clearTimeout(timer)
  }, [step])

  const run = async (work: () => Promise<unknown>, after: 'sent' | 'idle' = 'sent') => {
    // A ref, not the state: the second click of a double click comes before the state is drawn.
    if (busy.current) return
    busy.current = true
    const before = latest.current
    setNotice('')
    setIssues([])
    setStep('sending')
    try {
      await work()
      setStep(latest.current === before ? after : 'idle')
    } catch (error) {
      setNotice(sayError(error, now()))
      setIssues(issuesOf(error))
      setStep('idle')
      const current = actionOf(error)
      if (current) onNews(current)
    } finally {
      busy.current = false
    }
  }

  return {
    step,
    setStep,
    notice,
    setNotice,
    issues,
    send: (verdict, extra) => run(() => onDecide(verdict, { revision, digest, ...extra })),
    lookAgain: () =>
      run(async () => {
        const seen = await onLookAgain?.()
        if (seen) onNews(seen)
      }, 'idle'),
    retry: () => run(async () => onRetry?.()),
    verify: () => run(async () => onVerify?.()),
    resolve: (outcome, note) => run(async () => onResolve?.(outcome, note)),
    carryOut: () => run(async () => onCarryOut?.()),
  }
}
