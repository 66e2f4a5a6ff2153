import { type Action, type AssignTo, isApiError } from '@countersign/client'
import { assigneeOf } from '@countersign/core/text'
import { showInvisible, whyNot } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { isLater } from '../action/use-action.ts'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useServices } from '../services.tsx'
import { Button, Failure } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { AssignChoices, rolesOf } from './assign-choices.tsx'
import { assignedText } from './words.ts'
import '../ui/choice-dialog.css'

/** Asks who should decide about an action. */
export default function AssignDialog({ action: opened, onClose }: { action: Action; onClose: () => void }) {
  const { client, inbox, me } = useServices()
  const standsFor = useStandsFor()
  const queries = useQueryClient()
  const id = useId()
  // A refusal brings the action as it is now, and the next choice is about that one.
  const [answered, setAnswered] = useState<Action>()
  const action = answered && !isLater(opened, answered) ? answered : opened
  const take = (changed: Action) => {
    queries.setQueryData(['action', changed.id], changed)
    inbox.include([changed])
  }
  const assign = useMutation({
    mutationFn: (to: AssignTo | null) => client.actions.assign(action.id, { to, was: assigneeOf(action) }),
    onSuccess: take,
    onError(error) {
      if (!isApiError(error) || !error.action) return
      take(error.action)
      setAnswered(error.action)
    },
  })
  // Not an option of the mutation: this callback does not run after Cancel, when the answer would close the next dialog of the page.
  const choose = (to: AssignTo | null) => assign.mutate(to, { onSuccess: onClose })
  return (
    <Dialog open onClose={onClose} aria-labelledby={id} fullWidth maxWidth="xs">
      <div className="choice-dialog assign">
        <h2 id={id}>Assign</h2>
        <p className="muted">
          <bdi>{showInvisible(action.description)}</bdi>
        </p>
        <p className="muted">Choose who should decide. It does not change who may decide. {assignedText(action, me)}</p>
        <AssignChoices
          roles={rolesOf(action)}
          isForMe={whyNot(action, me, standsFor) === null}
          isBusy={assign.isPending}
          onChoose={choose}
        />
        <Failure of={assign.error} />
        <div className="dialog-end">
          {action.assignment && (
            <Button disabled={assign.isPending} onClick={() => choose(null)}>
              Nobody in particular
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}
