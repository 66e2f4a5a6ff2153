import { type Action, isApiError } from '@countersign/client'
import { useMutation } from '@tanstack/react-query'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useServices } from '../services.tsx'
import { Failure } from '../ui/index.ts'
import { looksAgain, withdraws } from './what-else.ts'

/** The buttons that the card lacks: one looks again at what others decide about, one withdraws what was allowed to a client, which may be gone. */
export function OtherTasks({ action, onChange }: { action: Action; onChange: (changed: Action) => void }) {
  const { client, inbox, me } = useServices()
  const standsFor = useStandsFor()
  const take = (changed: Action) => {
    inbox.include([changed])
    onChange(changed)
  }
  const change = useMutation({
    mutationFn: (does: 'lookAgain' | 'withdraw') => client.actions[does](action.id),
    onSuccess: take,
    onError: (error) => isApiError(error) && error.action && take(error.action),
  })
  const button = (does: 'lookAgain' | 'withdraw', words: string) => (
    <button type="button" className="action-task" disabled={change.isPending} onClick={() => change.mutate(does)}>
      {words}
    </button>
  )
  return (
    <>
      {looksAgain(action, me, standsFor) && button('lookAgain', 'Look again')}
      {withdraws(action, me) && button('withdraw', 'Withdraw')}
      <Failure of={change.error} />
    </>
  )
}
