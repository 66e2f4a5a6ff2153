import type { Action } from '@countersign/client'
import { whyNot } from '@countersign/react'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useServices } from '../services.tsx'
import { Button, Notice } from '../ui/index.ts'
import { typedForms } from './typed-forms.ts'

/** Says above the composer how many approvals wait in this session, and what to type to decide one. */
export function WaitingBanner({ waiting, onShow }: { waiting: readonly Action[]; onShow: () => void }) {
  const { me } = useServices()
  const standsFor = useStandsFor()
  if (waiting.length === 0) return null
  const mayDecide = (action: Action) => whyNot(action, me, standsFor) === null
  const [approve, decline] = typedForms(waiting, mayDecide)
  const cards = waiting.length === 1 ? 'the card' : 'the cards'
  return (
    <Notice tone="warning" testId="waiting-banner" action={<Button onClick={onShow}>Show</Button>}>
      {waiting.length === 1 ? '1 approval waiting' : `${waiting.length} approvals waiting`}
      {approve !== undefined ? (
        <>
          : type <strong>{approve}</strong> or <strong>{decline}</strong>, or use {cards}.
        </>
      ) : waiting.some(mayDecide) ? (
        `: use ${cards}.`
      ) : (
        ' for somebody else.'
      )}
    </Notice>
  )
}
