import type { Grant } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { AccessTabs } from '../access/access-tabs.tsx'
import { PageBanner } from '../live/page-banner.tsx'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Page } from '../shell/page.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, LoadedRows, useList } from '../ui/index.ts'
import '../ui/pages.css'

const STATE_WORDS: Record<Grant['state'], string> = { standing: 'In force', used_up: 'Used up', over: 'Expired', revoked: 'Revoked' }

/** `/grants`: lists grants with their expiry and how often each was used. */
export default function GrantsPage() {
  const { client } = useServices()
  const queries = useQueryClient()
  const [all, setAll] = useState(false)
  const grants = useList(['grants', all], (cursor, signal) =>
    client.grants.list({ cursor, ...(all ? {} : { state: 'standing' }) }, { signal }),
  )
  const [revoking, setRevoking] = useState<Grant>()
  return (
    <Page title="Grants" subtitle="Calls that were approved in advance">
      <div className="stack">
        <AccessTabs />
        <PageBanner />
        <label className="check">
          <input type="checkbox" checked={all} onChange={({ currentTarget }) => setAll(currentTarget.checked)} />
          Show expired, used and revoked
        </label>
        <LoadedRows
          of={grants}
          height={240}
          label="Grants"
          empty={
            <div className="empty">
              <h2>{all ? 'No grants' : 'No standing grants'}</h2>
              <p>Choose “Don’t ask again” on a card to make one.</p>
            </div>
          }
        >
          {(grant) => <GrantRow key={grant.id} grant={grant} onRevoke={() => setRevoking(grant)} />}
        </LoadedRows>
      </div>
      {revoking && (
        <Confirmation
          title="Revoke this grant?"
          action="Revoke"
          onConfirm={() => client.grants.revoke(revoking.id).then(() => queries.invalidateQueries({ queryKey: ['grants'] }))}
          onClose={() => setRevoking(undefined)}
        >
          <p>
            Calls of <span className="mono">{toolOf(revoking)}</span> need approval again. Calls that ran stay as they are.
          </p>
        </Confirmation>
      )}
    </Page>
  )
}

const toolOf = ({ tool }: Grant): string => (tool === null ? 'Every tool that the agent had' : showInvisible(tool))

/** The calls that a grant allows, told apart from those of other grants for the same tool. */
function callsOf(grant: Grant): string {
  if (grant.when !== null) return `${toolOf(grant)} where ${showInvisible(grant.when)}`
  if (grant.arguments !== null) return `${toolOf(grant)} with ${showInvisible(JSON.stringify(grant.arguments))}`
  return toolOf(grant)
}

function GrantRow({ grant, onRevoke }: { grant: Grant; onRevoke: () => void }) {
  const online = useOnline()
  const {
    scope,
    sessionId,
    agent,
    requestedBy,
    when,
    arguments: exact,
    used,
    usesLeft,
    lastUsedAt,
    state,
    expiresAt,
    madeBy,
    actionId,
  } = grant
  return (
    <li className="row-card" data-testid="grant" data-state={state}>
      <div className="row-head">
        <strong className="mono">{toolOf(grant)}</strong>
        <span className="badge-text">{STATE_WORDS[state]}</span>
        {state === 'standing' && (
          <Button variant="outlined" aria-label={`Revoke ${callsOf(grant)}`} disabled={!online} onClick={onRevoke}>
            Revoke
          </Button>
        )}
      </div>
      {when !== null && (
        <p>
          Where <code className="mono">{showInvisible(when)}</code>
        </p>
      )}
      {exact !== null && (
        <p>
          With exactly <code className="mono">{showInvisible(JSON.stringify(exact))}</code>
        </p>
      )}
      {when === null && exact === null && <p>With any arguments</p>}
      <p className="muted">
        {scope === 'session' ? 'In ' : `For ${showInvisible(agent ?? requestedBy?.name ?? 'the agent')}, in every session`}
        {scope === 'session' && sessionId !== null && <Link to={`/sessions/${sessionId}`}>one session</Link>}
        {' · '}until <time dateTime={expiresAt}>{fullTime(expiresAt)}</time>
        {' · '}by {showInvisible(madeBy.name)}
        {actionId !== null && (
          <>
            {' · '}
            <Link to={`/actions/${actionId}`}>the action it was made for</Link>
          </>
        )}
      </p>
      <p className="muted">
        {used === 0 ? 'Not used yet' : `Used ${used === 1 ? 'once' : `${used} times`}`}
        {lastUsedAt !== null && (
          <>
            , last <time dateTime={lastUsedAt}>{fullTime(lastUsedAt)}</time>
          </>
        )}
        {usesLeft !== null && `, ${usesLeft} left`}
      </p>
    </li>
  )
}
