import type { Action, ActionRevision } from '@countersign/client'
import { listEdits, showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { RawJson } from '../chat/raw-json.tsx'
import { useServices } from '../services.tsx'
import { fullTime } from '../time/relative.ts'
import { Loaded } from '../ui/index.ts'
import { textOf } from './edited-value.ts'

/** Lists earlier revisions as they were shown, each with the reason it ended. */
export function Revisions({ action }: { action: Action }) {
  const { client } = useServices()
  const { id, revision } = action
  const revisions = useQuery({
    queryKey: ['action', id, 'revisions', revision],
    queryFn: ({ signal }) => client.actions.revisions(id, { signal }),
    enabled: revision > 1,
  })
  if (revision === 1) return null
  return (
    <section aria-labelledby="revisions-title">
      <h2 id="revisions-title">Earlier revisions</h2>
      <Loaded of={revisions} height={120}>
        {(items) => (
          <ol className="revisions">
            {items.map((earlier, at) => (
              <Revision key={earlier.revision} earlier={earlier} after={items[at + 1] ?? action} />
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  )
}

function Revision({ earlier, after }: { earlier: ActionRevision; after: Pick<ActionRevision, 'arguments'> }) {
  const { revision, description, arguments: args, digest, votes, ended } = earlier
  const edits = listEdits(args, after.arguments)
  return (
    <li data-testid="revision">
      <p>
        <strong>Revision {revision}:</strong> {showInvisible(description)}
      </p>
      <p>
        {showInvisible(ended.reason)}{' '}
        <span className="muted">
          {ended.by && `${showInvisible(ended.by.name)}, `}
          <time dateTime={ended.at}>{fullTime(ended.at)}</time>
        </span>
      </p>
      {edits.map(({ path, oldValue, newValue }) => (
        <p key={path}>
          <span className="mono">{showInvisible(path)}</span>: <del>{textOf(oldValue)}</del> → <ins>{textOf(newValue)}</ins>
        </p>
      ))}
      {votes.map((vote) => (
        <p key={vote.by.id} className="muted">
          {showInvisible(vote.by.name)} had {vote.verdict === 'approve' ? 'approved' : 'declined'} this revision.
        </p>
      ))}
      <details className="raw-details">
        <summary>
          Arguments, <span className="mono">{digest.slice(0, 19)}</span>
        </summary>
        <RawJson label={`Revision ${revision}`} value={args} />
      </details>
    </li>
  )
}
