import type { CreatedKey, Key } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { AccessTabs } from '../access/access-tabs.tsx'
import { PageBanner } from '../live/page-banner.tsx'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Page } from '../shell/page.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, CopyButton, LoadedRows, useList } from '../ui/index.ts'
import { ShownOnce } from '../ui/shown-once.tsx'
import { KeyForm } from './key-form.tsx'
import { carriedRoles, rolesText } from './roles-text.ts'
import '../ui/pages.css'

/** `/keys`: who has a key, what it may be used for, and making and revoking them. For admins. */
export default function KeysPage() {
  const { client } = useServices()
  const queries = useQueryClient()
  const keys = useList(['keys'], (cursor, signal) => client.keys.list({ cursor }, { signal }))
  const [made, setMade] = useState<CreatedKey>()
  const [revoking, setRevoking] = useState<Key>()
  const heading = useRef<HTMLHeadingElement>(null)
  const readAgain = () => queries.invalidateQueries({ queryKey: ['keys'] })
  const onMade = (key: CreatedKey) => {
    setMade(key)
    void readAgain()
  }
  // The pressed button was removed with the key, so the focus moves to the list.
  const close = () => {
    setMade(undefined)
    heading.current?.focus()
  }
  return (
    <Page title="Keys" subtitle="Sign-in keys of people and programs">
      <div className="stack">
        <AccessTabs />
        <PageBanner />
        {made && <MadeKey key={made.id} made={made} onClose={close} />}
        <KeyForm onMade={onMade} />
        <section aria-labelledby="keys-title">
          <h2 id="keys-title" ref={heading} tabIndex={-1}>
            Keys
          </h2>
          <LoadedRows of={keys} height={240} label="Keys" empty={<p className="muted">No keys yet.</p>}>
            {(key) => <KeyRow key={key.id} held={key} onRevoke={() => setRevoking(key)} />}
          </LoadedRows>
        </section>
      </div>
      {revoking && (
        <Confirmation
          title={`Revoke the key of ${showInvisible(revoking.name)}?`}
          action="Revoke"
          onConfirm={() => client.keys.revoke(revoking.id).then(readAgain)}
          onClose={() => setRevoking(undefined)}
        >
          <p>Requests with this key are refused from now on, and consoles signed in with it are signed out. This cannot be undone.</p>
        </Confirmation>
      )}
    </Page>
  )
}

/** The one time that a key is in sight. */
function MadeKey({ made, onClose }: { made: CreatedKey; onClose: () => void }) {
  const { key } = made
  const name = <strong>{showInvisible(made.principal.name)}</strong>
  if (key === null) {
    return (
      <ShownOnce testId="made-key">
        <p>The key of {name} was made, but its answer was lost on the way. Revoke it and make another one.</p>
        <p>
          <Button onClick={onClose}>Close</Button>
        </p>
      </ShownOnce>
    )
  }
  return (
    <ShownOnce testId="made-key">
      <p>
        The key of {name}. It is shown this once: copy it now.
        {made.acceptedAt === null &&
          ' It only reads until its person has accepted it: signed in another way, under Where you are signed in, or on the server with countersign key accept.'}
      </p>
      <p className="mono" data-testid="key-text">
        {key}
      </p>
      <p className="muted">It carries {rolesText(made.principal.roles, 'the ')}.</p>
      <p>
        <CopyButton text={key} /> <Button onClick={onClose}>I have it</Button>
      </p>
    </ShownOnce>
  )
}

function KeyRow({ held, onRevoke }: { held: Key; onRevoke: () => void }) {
  const online = useOnline()
  const { id, name, principal, scopes, embedRoles, createdAt, createdBy, expiresAt, lastUsedAt, revokedAt, acceptedAt } = held
  const isUnaccepted = (principal.kind === 'person' || embedRoles !== null) && acceptedAt === null
  return (
    <li className="row-card" data-testid="key" data-revoked={revokedAt !== null}>
      <div className="row-head">
        <strong>{showInvisible(name)}</strong>
        <span className="muted">
          {principal.kind} · {rolesText(carriedRoles(held))}
        </span>
        {isUnaccepted && revokedAt === null && <span className="badge-text">Not accepted: read-only</span>}
        {revokedAt === null ? (
          <Button variant="outlined" aria-label={`Revoke the key ${showInvisible(name)}`} disabled={!online} onClick={onRevoke}>
            Revoke
          </Button>
        ) : (
          <span className="badge-text">Revoked</span>
        )}
      </div>
      <p className="muted">
        {usesOf(scopes, embedRoles)} · made <time dateTime={createdAt}>{fullTime(createdAt)}</time>
        {createdBy && ` by ${showInvisible(createdBy.name)}`}
        {' · '}
        {expiresAt === null ? 'until it is revoked' : `until ${fullTime(expiresAt)}`}
        {' · '}
        {lastUsedAt === null ? 'not used yet' : `last used ${fullTime(lastUsedAt)}`}
      </p>
      {embedRoles !== null && isUnaccepted && revokedAt === null && (
        <p className="muted">
          It makes no tokens until whoever runs the server accepts it: <code>npx countersign key accept {id}</code>
        </p>
      )}
    </li>
  )
}

/** Shows the scopes of a key. */
function usesOf(scopes: Key['scopes'], embedRoles: Key['embedRoles']): string {
  if (embedRoles !== null) return `Makes embed tokens with the roles ${showInvisible(embedRoles.join(', ')) || 'none'}`
  return scopes === null ? 'Everything that its owner may do' : `Only to ${['read', ...scopes].join(', ')}`
}
