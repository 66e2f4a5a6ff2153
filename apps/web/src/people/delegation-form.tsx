import { showInvisible } from '@countersign/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useRef, useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { handleSubmit, textOf } from '../ui/form.ts'
import { Button, Failure, Options } from '../ui/index.ts'
import { personIdOf, useOfferedPeople } from './offered-people.ts'

const TIMES = { P1D: '1 day', P3D: '3 days', P7D: '7 days', P14D: '14 days', P30D: '30 days', P90D: '90 days' } as const

/** Lets somebody else vote in one's own place; an admin also in that of another. */
export function DelegationForm({ isOpenAtFirst, onMade }: { isOpenAtFirst: boolean; onMade: () => void }) {
  // A delegation of somebody else that arrives must not close the form in which a person types.
  const [isOpen] = useState(isOpenAtFirst)
  const { client, me } = useServices()
  const online = useOnline()
  const form = useRef<HTMLFormElement>(null)
  const peopleId = useId()
  const isAdmin = me.roles.includes('admin')
  const [typed, setTyped] = useState('')
  const people = useOfferedPeople(typed)
  const make = useMutation({
    mutationFn: async (data: FormData) => {
      const [from, reason] = [textOf(data, 'from'), textOf(data, 'reason')]
      return client.delegations.create({
        to: await personIdOf(client, textOf(data, 'to')),
        expiresIn: textOf(data, 'expiresIn'),
        ...(reason !== '' && { reason }),
        ...(from !== '' && { from: await personIdOf(client, from) }),
      })
    },
    onSuccess: () => {
      form.current?.reset()
      setTyped('')
      onMade()
    },
  })
  const onInput = (event: FormEvent<HTMLInputElement>) => setTyped(event.currentTarget.value)
  const person = { list: peopleId, autoComplete: 'off', spellCheck: false, maxLength: 100, onInput }
  return (
    <details className="panel" open={isOpen}>
      <summary>Let somebody vote in {isAdmin ? 'your place, or in that of another' : 'your place'}</summary>
      <form ref={form} className="filters" onSubmit={handleSubmit(make.mutate)}>
        <label>
          Who votes
          <input name="to" placeholder="Type a name" required {...person} />
        </label>
        {isAdmin && (
          <label>
            In whose place
            <input name="from" placeholder="Yours" {...person} />
          </label>
        )}
        <datalist id={peopleId}>
          <Options of={people.map(({ id, name }) => [id, showInvisible(name)])} />
        </datalist>
        <label>
          For
          <select name="expiresIn" defaultValue="P7D">
            <Options of={Object.entries(TIMES)} />
          </select>
        </label>
        <label>
          Reason (optional)
          <input name="reason" maxLength={500} autoComplete="off" />
        </label>
        <Failure of={make.error} isWide />
        <Button type="submit" variant="contained" disabled={make.isPending || !online}>
          Delegate
        </Button>
      </form>
      <p className="muted">
        Your own id, for whoever wants to give you their place: <span className="mono">{me.id}</span>
      </p>
    </details>
  )
}
