import { isApiError, type PersonDetails } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { handleSubmit, textOf } from '../ui/form.ts'
import { Button, Failure } from '../ui/index.ts'

/** The roles of a person, to be changed by another admin. Those that the sign-in service gives are shown, and changed there. */
export function RolesForm({ person }: { person: PersonDetails }) {
  const { client, me } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const { roles, hasFixedRoles } = person
  const provided = person.providedRoles ?? []
  const form = useRef<HTMLFormElement>(null)
  const save = useMutation({
    mutationFn: ({ next }: { next: string[]; added?: string }) => client.people.changeRoles(person.id, next, { was: roles }),
    onSuccess: async (changed, { added }) => {
      // The field may hold another role by now.
      if (form.current && textOf(new FormData(form.current), 'role') === added) form.current.reset()
      queries.setQueryData(['people', 'one', person.id], changed)
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
    // Another admin was first: what failed is said beside the roles as they are now.
    onError: (error) => {
      if (isApiError(error) && error.code === 'revision_mismatch') void queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  const isMe = person.id === me.id
  const mayChange = !isMe && !hasFixedRoles
  const isBlocked = save.isPending || !online
  const add = handleSubmit((data) => {
    const role = textOf(data, 'role')
    if (role !== '') save.mutate({ next: [...roles, role], added: role })
  })
  return (
    <>
      {roles.length === 0 && <p className="muted">No roles.</p>}
      {roles.length > 0 && (
        <ul className="rows" aria-label="Roles">
          {roles.map((role) => (
            <li key={role} className="row-head" data-testid="role">
              <strong>{showInvisible(role)}</strong>
              {provided.includes(role) ? (
                <span className="muted">from the sign-in service, and changed there</span>
              ) : (
                mayChange && (
                  <Button
                    variant="outlined"
                    aria-label={`Remove the role ${showInvisible(role)}`}
                    disabled={isBlocked}
                    onClick={() => save.mutate({ next: roles.filter((other) => other !== role) })}
                  >
                    Remove
                  </Button>
                )
              )}
            </li>
          ))}
        </ul>
      )}
      {isMe && <p className="muted">Another admin changes your roles.</p>}
      {!isMe && hasFixedRoles && <p className="muted">The server itself gives these roles.</p>}
      {mayChange && (
        <form ref={form} className="filters" onSubmit={add}>
          <label>
            Another role
            <input name="role" required maxLength={64} autoComplete="off" spellCheck={false} />
          </label>
          <Button type="submit" variant="outlined" disabled={isBlocked}>
            Add the role
          </Button>
        </form>
      )}
      <Failure of={save.error} />
    </>
  )
}
