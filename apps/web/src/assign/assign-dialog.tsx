import { type Action, type AssignTo, isApiError } from '@countersign/client'
import { assigneeOf } from '@countersign/core/text'
import { showInvisible, whyNot } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { errorText } from '../errors.ts'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useOfferedPeople } from '../people/offered-people.ts'
import { useServices } from '../services.tsx'
import { Button, SearchInput, Unseen } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { assignedText } from './words.ts'
import '../ui/choice-dialog.css'
import './assign.css'

/** People who are offered at once: more are found by typing. */
const OFFERED = 5

/** Asks who should decide about an action. */
export default function AssignDialog({ action, onClose }: { action: Action; onClose: () => void }) {
  const { client, inbox, me } = useServices()
  const standsFor = useStandsFor()
  const [typed, setTyped] = useState('')
  const people = useOfferedPeople(typed)
  const queries = useQueryClient()
  const id = useId()
  const take = (changed: Action) => {
    queries.setQueryData(['action', changed.id], changed)
    inbox.include([changed])
  }
  const assign = useMutation({
    mutationFn: (to: AssignTo | null) => client.actions.assign(action.id, { to, was: assigneeOf(action) }),
    onSuccess(changed) {
      take(changed)
      onClose()
    },
    onError(error) {
      if (isApiError(error) && error.action) take(error.action)
    },
  })
  const { roles, alsoRoles = [] } = action.requires
  const offer = (words: string, to: AssignTo | null, isFirst = false) => (
    <Button key={JSON.stringify(to)} variant="outlined" autoFocus={isFirst} disabled={assign.isPending} onClick={() => assign.mutate(to)}>
      <bdi>{words}</bdi>
    </Button>
  )
  const isForMe = whyNot(action, me, standsFor) === null
  return (
    <Dialog open onClose={onClose} aria-labelledby={id} fullWidth maxWidth="xs">
      <div className="choice-dialog assign">
        <h2 id={id}>Assign</h2>
        <p className="muted">
          <bdi>{showInvisible(action.description)}</bdi>
        </p>
        <p className="muted">Choose who should decide. It does not change who may decide. {assignedText(action, me)}</p>
        {isForMe && offer('I’m on it', { person: me.id }, true)}
        {[...new Set([...roles, ...alsoRoles.flat()])].map((role) => offer(`The role ${showInvisible(role)}`, { role }))}
        <SearchInput
          aria-label="Find a person"
          placeholder="Find a person"
          autoFocus={!isForMe}
          maxLength={100}
          typed={typed}
          onType={setTyped}
        />
        <Unseen text={typed} />
        {people.slice(0, OFFERED).map((person) => offer(showInvisible(person.name), { person: person.id }))}
        {assign.isError && (
          <p role="alert" className="field-issue">
            {errorText(assign.error)}
          </p>
        )}
        <div className="choice-dialog-end">
          {action.assignment && (
            <Button disabled={assign.isPending} onClick={() => assign.mutate(null)}>
              Nobody in particular
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}
