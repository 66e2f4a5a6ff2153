import type { Action } from '@countersign/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ApprovalCardProps, Outcome, Verdict } from './card-props.ts'
import { CHANGED, sayError } from './say-error.ts'

/** Where a person stands with a card. `sent`: the server took the decision and the card waits to see it in the action itself. */
export type Step = 'idle' | 'armed' | 'confirming' | 'declining' | 'sending' | 'sent'

export type Decision = {
  step: Step
  setStep: (step: Step) => void
  notice: string
  setNotice: (notice: string) => void
  send: (verdict: Verdict, extra?: { reason?: string; stop?: boolean }) => Promise<void>
  retry: () => Promise<void>
  verify: () => Promise<void>
  resolve: (outcome: Outcome, note: string) => Promise<void>
  carryOut: () => Promise<void>
}

const ARMED_MS = 3_000

/** Sends decisions about `action`, one at a time, and says what became of them. */
export function useDecision(props: ApprovalCardProps): Decision {
  const { action, onDecide, onRetry, onVerify, onResolve, onCarryOut, now = Date.now } = props
  const [step, setStep] = useState<Step>('idle')
  const [notice, setNotice] = useState('')
  const busy = useRef(false)
  const latest = useRef<Action>(action)
  const { revision, digest } = action
  const version = `${revision} ${digest}`
  const shown = useRef(version)

  useEffect(() => {
    latest.current = action
    setStep((step) => (step === 'sent' ? 'idle' : step))
  }, [action])

  useEffect(() => {
    if (shown.current === version) return
    shown.current = version
    setNotice(CHANGED)
    setStep((step) => (step === 'sending' ? step : 'idle'))
  }, [version])

  useEffect(() => {
    if (step !== 'armed') return
    const timer = setTimeout(() => setStep('idle'), ARMED_MS)
    return () => clearTimeout(timer)
  }, [step])

  const run = useCallback(
    async (work: () => Promise<unknown>) => {
      // A ref, not the state: the second click of a double click comes before the state is drawn.
      if (busy.current) return
      busy.current = true
      const before = latest.current
      setNotice('')
      setStep('sending')
      try {
        await work()
        setStep(latest.current === before ? 'sent' : 'idle')
      } catch (error) {
        setNotice(sayError(error, now()))
        setStep('idle')
      } finally {
        busy.current = false
      }
    },
    [now],
  )

  const send = useCallback<Decision['send']>(
    (verdict, extra) => run(() => onDecide(verdict, { revision, digest, ...extra })),
    [run, onDecide, revision, digest],
  )
  return {
    step,
    setStep,
    notice,
    setNotice,
    send,
    retry: () => run(async () => onRetry?.()),
    verify: () => run(async () => onVerify?.()),
    resolve: (outcome, note) => run(async () => onResolve?.(outcome, note)),
    carryOut: () => run(async () => onCarryOut?.()),
  }
}
