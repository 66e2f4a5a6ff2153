import type { Person } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useState } from 'react'
import { Link } from 'react-router'
import { AccessTabs } from '../access/access-tabs.tsx'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { LoadedRows, useList } from '../ui/index.ts'
import '../ui/pages.css'

/** `/people`: everybody this server knows, by name. For admins. */
export default function PeoplePage() {
  const { client } = useServices()
  const [q, setQ] = useState('')
  const people = useList(['people', q], (cursor, signal) => client.people.list({ cursor, ...(q !== '' && { q }) }, { signal }))
  return (
    <Page title="People" subtitle="People, their roles and their keys">
      <div className="stack">
        <AccessTabs />
        <PageBanner />
        <form className="filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            Find by name or id
            <input type="search" value={q} maxLength={100} autoComplete="off" onChange={({ currentTarget }) => setQ(currentTarget.value)} />
          </label>
        </form>
        <LoadedRows
          of={people}
          height={240}
          label="People"
          empty={<p className="muted">{q === '' ? 'Nobody has signed in or received a key yet.' : 'No matching name or id.'}</p>}
        >
          {(person) => <PersonRow key={person.id} person={person} />}
        </LoadedRows>
      </div>
    </Page>
  )
}

function PersonRow({ person: { id, name, roles = [], disabledAt } }: { person: Person }) {
  return (
    <li className="row-card" data-testid="person" data-disabled={disabledAt != null}>
      <div className="row-head">
        <Link to={`/people/${encodeURIComponent(id)}`}>{showInvisible(name)}</Link>
        <span className="muted">{showInvisible(roles.join(', ') || 'no roles')}</span>
        {disabledAt != null && <span className="badge-text">Disabled</span>}
      </div>
      <p className="muted mono">{showInvisible(id)}</p>
    </li>
  )
}
