import type { CreatedKey, KeyScope } from '@countersign/client'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { handleSubmit, textOf } from '../ui/form.ts'
import { Button, Failure, Options } from '../ui/index.ts'

const KINDS = { person: 'A person', agent: 'An agent', service: 'A service' } as const
type Kind = keyof typeof KINDS
const ROLES: Record<Kind, string> = { person: 'approver', agent: 'agent', service: '' }
const TIMES = { '': 'until it is revoked', P1D: '1 day', P30D: '30 days', P90D: '90 days', P365D: '1 year' } as const
/** A key with the scope `embed` is made by whoever runs the server: see docs/guides/embed-the-card.md. */
const SCOPES: Record<Exclude<KeyScope, 'embed'>, string> = { propose: 'propose', decide: 'decide', manage: 'manage policy and keys' }

/** Makes a key for somebody new. */
export function KeyForm({ onMade }: { onMade: (key: CreatedKey) => void }) {
  const { client } = useServices()
  const online = useOnline()
  const form = useRef<HTMLFormElement>(null)
  const [kind, setKind] = useState<Kind>('person')
  const make = useMutation({
    mutationFn: (data: FormData) => {
      // A role may have spaces: a group of the sign-in service is a role under its own name.
      const roles = textOf(data, 'roles')
        .split(',')
        .map((role) => role.trim())
        .filter((role) => role !== '')
      const scopes = (Object.keys(SCOPES) as (keyof typeof SCOPES)[]).filter((scope) => data.has(scope))
      const expiresIn = textOf(data, 'expiresIn')
      return client.keys.create({
        name: textOf(data, 'name'),
        kind,
        roles,
        ...(scopes.length > 0 && { scopes }),
        ...(expiresIn !== '' && { expiresIn }),
      })
    },
    onSuccess: (key) => {
      form.current?.reset()
      onMade(key)
    },
  })
  return (
    <details className="panel">
      <summary>Make a key</summary>
      <form ref={form} className="filters" onSubmit={handleSubmit(make.mutate)}>
        <label>
          Name
          <input name="name" required maxLength={120} autoComplete="off" />
        </label>
        <label>
          For
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as Kind)}>
            <Options of={Object.entries(KINDS)} />
          </select>
        </label>
        <label>
          Roles (separated by commas)
          <input key={kind} name="roles" defaultValue={ROLES[kind]} autoComplete="off" spellCheck={false} />
        </label>
        <label className="filters-row">
          Good
          <select name="expiresIn">
            <Options of={Object.entries(TIMES)} />
          </select>
        </label>
        <fieldset className="filters-wide">
          <legend>Only for some things (reading is always part of it)</legend>
          {Object.entries(SCOPES).map(([scope, words]) => (
            <label key={scope} className="check">
              <input type="checkbox" name={scope} /> {words}
            </label>
          ))}
        </fieldset>
        <Failure of={make.error} isWide />
        <Button type="submit" variant="contained" disabled={make.isPending || !online}>
          Make a key
        </Button>
      </form>
    </details>
  )
}
