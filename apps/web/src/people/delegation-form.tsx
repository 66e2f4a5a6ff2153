import type { Delegation } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useRef } from 'react'
import { errorText } from '../errors.ts'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'

const TIMES = { P1D: '1 day', P3D: '3 days', P7D: '7 days', P14D: '14 days', P30D: '30 days', P90D: '90 days' } as const

/** Lets somebody else vote in one's own place; an admin also in that of another. */
export function DelegationForm({ known, onMade }: { known: readonly Delegation[]; onMade: () => void }) {
  const { client, me } = useServices()
  const online = useOnline()
  const form = useRef<HTMLFormElement>(null)
  const peopleId = useId()
  const isAdmin = me.roles.includes('admin')
  const people = useKnownPeople(known)
  const make = useMutation({
    mutationFn: (data: FormData) => {
      const text = (name: string) => String(data.get(name) ?? '').trim()
      const [from, reason] = [text('from'), text('reason')]
      return client.delegations.create({
        to: text('to'),
        expiresIn: text('expiresIn'),
        ...(reason !== '' && { reason }),
        ...(from !== '' && { from }),
      })
    },
    onSuccess: () => {
      form.current?.reset()
      onMade()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    make.mutate(new FormData(event.currentTarget))
  }
  const person = { list: peopleId, autoComplete: 'off', spellCheck: false, maxLength: 100 }
  return (
    <details className="panel">
      <summary>Let somebody vote in {isAdmin ? 'your place, or in that of another' : 'your place'}</summary>
      <form ref={form} className="filters" onSubmit={submit}>
        <label>
          Who votes (the id of a person)
          <input name="to" required {...person} />
        </label>
        {isAdmin && (
          <label>
            In whose place (yours if empty)
            <input name="from" {...person} />
          </label>
        )}
        <datalist id={peopleId}>
          {people.map(({ id, name }) => (
            <option key={id} value={id}>
              {showInvisible(name)}
            </option>
          ))}
        </datalist>
        <label>
          For
          <select name="expiresIn" defaultValue="P7D">
            {Object.entries(TIMES).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          Reason (optional)
          <input name="reason" maxLength={500} autoComplete="off" />
        </label>
        {make.error && (
          <p role="alert" className="field-issue filters-wide">
            {errorText(make.error)}
          </p>
        )}
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

/** The people whose ids need not be typed: those of other delegations, and for admins those who have a key. */
function useKnownPeople(known: readonly Delegation[]): readonly Delegation['to'][] {
  const { client, me } = useServices()
  const keys = useQuery({
    queryKey: ['keys', 'people'],
    queryFn: ({ signal }) => client.keys.list({ limit: 200 }, { signal }),
    enabled: me.roles.includes('admin'),
  })
  const everybody = [...known.flatMap(({ from, to }) => [from, to]), ...(keys.data?.items ?? []).map(({ principal }) => principal)]
  const people = everybody.filter(({ id, kind }) => kind === 'person' && id !== me.id)
  return [...new Map(people.map((one) => [one.id, one])).values()]
}
