import type { PersonDetails } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import { PageBanner } from '../live/page-banner.tsx'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Page } from '../shell/page.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Loaded, Notice } from '../ui/index.ts'
import { PersonHoldings } from './person-holdings.tsx'
import { RolesForm } from './roles-form.tsx'
import '../ui/pages.css'

/** `/people/:id`: a person with everything that they can act with, their roles, and shutting them out. For admins. */
export default function PersonPage() {
  const { client } = useServices()
  const { id = '' } = useParams()
  const person = useQuery({ queryKey: ['people', 'one', id], queryFn: ({ signal }) => client.people.get(id, { signal }) })
  return (
    <Page title={person.data ? showInvisible(person.data.name) : 'Person'} subtitle={showInvisible(id)}>
      <div className="stack">
        <p>
          <Link to="/people">All people</Link>
        </p>
        <PageBanner />
        <Loaded of={person} height={320}>
          {(data) => <PersonView person={data} />}
        </Loaded>
      </div>
    </Page>
  )
}

function PersonView({ person }: { person: PersonDetails }) {
  const { me } = useServices()
  const online = useOnline()
  const [asking, setAsking] = useState(false)
  const isMe = person.id === me.id
  const isDisabled = person.disabledAt !== null
  return (
    <>
      {person.disabledAt !== null && (
        <Notice tone="warning">
          Disabled <time dateTime={person.disabledAt}>{fullTime(person.disabledAt)}</time>
          {person.disabledBy && ` by ${showInvisible(person.disabledBy.name)}`}
        </Notice>
      )}
      <section aria-labelledby="roles-title">
        <h2 id="roles-title">Roles</h2>
        <RolesForm key={person.id} person={person} />
      </section>
      <PersonHoldings person={person} />
      <section aria-labelledby="access-title">
        <h2 id="access-title">Access</h2>
        {isMe ? (
          <p className="muted">You cannot disable yourself: another admin has to do that.</p>
        ) : (
          <p>
            <Button
              variant="outlined"
              color={isDisabled ? 'primary' : 'error'}
              disabled={!online}
              aria-label={`${isDisabled ? 'Enable' : 'Disable'} ${showInvisible(person.name)}`}
              onClick={() => setAsking(true)}
            >
              {isDisabled ? 'Enable' : 'Disable'}
            </Button>
          </p>
        )}
      </section>
      {asking && <ChangeAccess person={person} onClose={() => setAsking(false)} />}
    </>
  )
}

function ChangeAccess({ person, onClose }: { person: PersonDetails; onClose: () => void }) {
  const { client } = useServices()
  const queries = useQueryClient()
  const isDisabled = person.disabledAt !== null
  const name = showInvisible(person.name)
  async function change() {
    const changed = await (isDisabled ? client.people.enable(person.id) : client.people.disable(person.id))
    queries.setQueryData(['people', 'one', person.id], changed)
    // Not awaited: with the new data, the open dialog would offer the opposite change.
    void queries.invalidateQueries({ queryKey: ['people'] })
  }
  return (
    <Confirmation
      title={`${isDisabled ? 'Enable' : 'Disable'} ${name}?`}
      action={isDisabled ? 'Enable' : 'Disable'}
      onConfirm={change}
      onClose={onClose}
    >
      {isDisabled ? (
        <p>They may sign in again with the roles above. Their keys, grants, delegations and votes do not come back.</p>
      ) : (
        <p>
          Their keys and those of their agents, their console sessions, grants and delegations end now and do not come back. Their votes on
          actions that still wait are void. Actions that they approved and that have not started go back for approval.
        </p>
      )}
    </Confirmation>
  )
}
