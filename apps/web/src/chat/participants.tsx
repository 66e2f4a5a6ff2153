import type { Session } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { personIdOf, useOfferedPeople } from '../people/offered-people.ts'
import { useServices } from '../services.tsx'
import { handleSubmit, textOf } from '../ui/form.ts'
import { Button, Failure, Options } from '../ui/index.ts'

type People = Pick<Session, 'owner' | 'participants'>

type ParticipantsProps = {
  sessionId: string
  people: People
  /** True for its owner and for admins, who say who else writes in it. */
  isHost: boolean
}

/**
 * Lists the people who may write in a session. The owner and admins can invite and remove people there. Everybody else sees the list only
 * when somebody besides the owner is on it. The session's event stream says when the list is another.
 */
export function Participants({ sessionId, people, isHost }: ParticipantsProps) {
  const { owner, participants } = people
  if (!isHost && participants.length === 0) return null
  const names = [owner, ...participants].map(({ name }) => showInvisible(name)).join(', ')
  return (
    <details className="chat-people" data-testid="participants">
      <summary>Can write here: {names}</summary>
      {isHost ? <Invitations sessionId={sessionId} people={people} /> : null}
    </details>
  )
}

function Invitations({ sessionId, people }: Omit<ParticipantsProps, 'isHost'>) {
  const { client } = useServices()
  const online = useOnline()
  const form = useRef<HTMLFormElement>(null)
  const listId = useId()
  const [typed, setTyped] = useState('')
  const offered = useOfferedPeople(typed)
  const invite = useMutation({
    mutationFn: async (text: string) => client.sessions.invite(sessionId, await personIdOf(client, text)),
    onSuccess: () => {
      form.current?.reset()
      setTyped('')
    },
  })
  const uninvite = useMutation({ mutationFn: (person: string) => client.sessions.uninvite(sessionId, person) })
  const failure = invite.error ?? uninvite.error
  const isBusy = invite.isPending || uninvite.isPending || !online
  const submit = handleSubmit((data) => invite.mutate(textOf(data, 'person')))
  return (
    <>
      <ul>
        {people.participants.map(({ id, name }) => (
          <li key={id}>
            {showInvisible(name)}{' '}
            <Button disabled={isBusy} aria-label={`Remove ${showInvisible(name)} from this session`} onClick={() => uninvite.mutate(id)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <form ref={form} className="chat-invite" onSubmit={submit}>
        <label>
          Invite a person (type a name, take the person)
          <input
            className="line-field"
            name="person"
            required
            list={listId}
            autoComplete="off"
            spellCheck={false}
            maxLength={100}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <datalist id={listId}>
          <Options of={offered.map(({ id, name }) => [id, showInvisible(name)])} />
        </datalist>
        <Button type="submit" variant="outlined" disabled={isBusy}>
          Invite
        </Button>
      </form>
      <Failure of={failure} />
      <p className="muted">
        What the agent does after somebody’s message must be allowed for everybody who wrote before it. Where it is not, people are asked.
      </p>
    </>
  )
}
