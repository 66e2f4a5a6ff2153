import type { Delegation } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AccessTabs } from '../access/access-tabs.tsx'
import { PageBanner } from '../live/page-banner.tsx'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Page } from '../shell/page.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Loaded, More, useList } from '../ui/index.ts'
import { DelegationForm } from './delegation-form.tsx'
import '../ui/pages.css'

const STATE_WORDS: Record<Delegation['state'], string> = { standing: 'In force', over: 'Expired', revoked: 'Revoked' }

/** `/delegations`: who votes in whose place, until when; giving one's own place to somebody and taking it back. */
export default function DelegationsPage() {
  const { client } = useServices()
  const queries = useQueryClient()
  const delegations = useList(['delegations'], (cursor, signal) => client.delegations.list({ cursor }, { signal }))
  const [ending, setEnding] = useState<Delegation>()
  // Delegations determine what this person may vote on.
  const onChanged = () => Promise.all([['delegations'], ['stands-for']].map((queryKey) => queries.invalidateQueries({ queryKey })))
  return (
    <Page title="Delegations" subtitle="People who vote on behalf of others">
      <div className="stack">
        <AccessTabs />
        <PageBanner />
        <Loaded of={delegations} height={240}>
          {(items) => (
            <>
              {/* Open where nobody has given a place yet. It is drawn once that is known: a press must not meet a form that has just opened. */}
              <DelegationForm isOpenAtFirst={items.length === 0} onMade={onChanged} />
              {items.length === 0 ? (
                <div className="empty">
                  <h2>No delegations</h2>
                  <p>While you are away, somebody else can vote in your place.</p>
                </div>
              ) : (
                <ul className="rows" aria-label="Delegations">
                  {items.map((held) => (
                    <DelegationRow key={held.id} held={held} onEnd={() => setEnding(held)} />
                  ))}
                </ul>
              )}
            </>
          )}
        </Loaded>
        <More of={delegations} />
      </div>
      {ending && (
        <Confirmation
          title="End this delegation?"
          action="End it"
          onConfirm={() => client.delegations.revoke(ending.id).then(onChanged)}
          onClose={() => setEnding(undefined)}
        >
          <p>
            {showInvisible(ending.to.name)} votes in the place of {showInvisible(ending.from.name)} no longer. Where others are still waited
            for, votes given under it do not count any more.
          </p>
        </Confirmation>
      )}
    </Page>
  )
}

function DelegationRow({ held, onEnd }: { held: Delegation; onEnd: () => void }) {
  const { me } = useServices()
  const online = useOnline()
  const { from, to, reason, madeBy, state, expiresAt, revokedAt, revokedBy } = held
  const name = ({ id, name }: Delegation['from']) => (id === me.id ? 'you' : showInvisible(name))
  const mayEnd = state === 'standing' && (from.id === me.id || me.roles.includes('admin'))
  return (
    <li className="row-card" data-testid="delegation" data-state={state}>
      <div className="row-head">
        <span>
          <strong>{name(to)}</strong> in the place of <strong>{name(from)}</strong>
        </span>
        <span className="badge-text">{STATE_WORDS[state]}</span>
        {mayEnd && (
          <Button variant="outlined" disabled={!online} onClick={onEnd}>
            End
          </Button>
        )}
      </div>
      {reason !== null && <p>{showInvisible(reason)}</p>}
      <p className="muted">
        until <time dateTime={expiresAt}>{fullTime(expiresAt)}</time>
        {madeBy.id !== from.id && ` · made by ${name(madeBy)}`}
        {revokedAt !== null && (
          <>
            {' · '}ended <time dateTime={revokedAt}>{fullTime(revokedAt)}</time>
          </>
        )}
        {revokedBy && ` by ${name(revokedBy)}`}
      </p>
    </li>
  )
}
