import type { Key } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { carriedRoles, rolesText } from '../keys/roles-text.ts'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Failure, Notice, useList, useReadOn } from '../ui/index.ts'

/** Keys that somebody else made for this person. They only read until this person accepts them here. */
export function UnacceptedKeys() {
  const { client, me } = useServices()
  const keys = useList(['keys', 'own'], (cursor, signal) => client.keys.own({ cursor }, { signal }))
  // The ones to accept may be behind many others.
  useReadOn(keys, true)
  const waiting = keys.data?.filter(({ acceptedAt, revokedAt }) => acceptedAt === null && revokedAt === null) ?? []
  if (waiting.length === 0) return null
  return (
    <section aria-labelledby="unaccepted-title">
      <h2 id="unaccepted-title">Keys made for you</h2>
      {me.unaccepted && (
        <Notice tone="warning">You are signed in with such a key. Sign in another way to accept it, or ask who runs the server.</Notice>
      )}
      <p className="muted">Once you accept a key, its holder acts as you. Accept only keys that you requested.</p>
      <ul className="rows" aria-label="Keys made for you">
        {waiting.map((held) => (
          <UnacceptedKey key={held.id} held={held} mayAccept={!me.unaccepted} />
        ))}
      </ul>
    </section>
  )
}

function UnacceptedKey({ held, mayAccept }: { held: Key; mayAccept: boolean }) {
  const { client } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const accept = useMutation({
    mutationFn: () => client.keys.accept(held.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const name = showInvisible(held.name)
  return (
    <li className="row-card" data-testid="unaccepted-key">
      <div className="row-head">
        <strong>{name}</strong>
        <Button
          variant="outlined"
          aria-label={`Accept the key ${name}`}
          disabled={!mayAccept || !online || accept.isPending}
          onClick={() => accept.mutate()}
        >
          Accept
        </Button>
      </div>
      <p className="muted">
        Made <time dateTime={held.createdAt}>{fullTime(held.createdAt)}</time>
        {held.createdBy && ` by ${showInvisible(held.createdBy.name)}`}
        {' · '}
        {usesOf(held)}
      </p>
      <Failure of={accept.error} />
    </li>
  )
}

/** Returns what the holder of the key could do as its person. */
function usesOf(held: Key): string {
  const { scopes, roles } = held
  const use = scopes === null ? 'for all that you may' : `only to ${['read', ...scopes].join(', ')}`
  return roles === null ? use : `${use}, with ${rolesText(carriedRoles(held), 'the ')}`
}
