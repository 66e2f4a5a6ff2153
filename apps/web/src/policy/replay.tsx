import { isApiError, type ReplayedActions } from '@countersign/client'
import { NumberInput } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Link } from 'react-router'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
import { BeforeAfter } from './before-after.tsx'
import { Problems } from './problems.tsx'
import { usePolicyCheck } from './use-policy-check.ts'

const DAYS = 30
const MOST_DAYS = 400
const MOST_RETRIES = 15

/**
 * Evaluates policy for the calls of the last days. The numbers of an edited text follow by themselves once it can be used; those of the version
 * in force are asked for.
 */
export function Replay({ document }: { document: string | undefined }) {
  const { client } = useServices()
  const online = useOnline()
  const id = useId()
  const [days, setDays] = useState(DAYS)
  const [isAsked, setAsked] = useState(false)
  const { checked } = usePolicyCheck(document ?? '')
  const isUsable = checked?.problems.length === 0
  const isWanted = (document === undefined ? isAsked : isUsable) && days >= 1 && days <= MOST_DAYS
  const replay = useQuery({
    queryKey: ['policy-replay', document, days],
    queryFn: ({ signal }) => client.policy.replay({ replay: { days }, ...(document !== undefined && { document }) }, { signal }),
    enabled: online && isWanted,
    // The server replays one at a time, and that of the text before may still be under way.
    retry: (count, error) => isApiError(error) && error.code === 'rate_limited' && count < MOST_RETRIES,
    retryDelay: 1_000,
    staleTime: 60_000,
    gcTime: 60_000,
  })
  return (
    <section className="panel" aria-labelledby={`${id}-title`} data-testid="replay">
      <h2 id={`${id}-title`}>What would have been asked</h2>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(true)
        }}
      >
        <label>
          Days back
          <NumberInput
            min={1}
            max={MOST_DAYS}
            value={days}
            required
            onChange={({ currentTarget }) => setDays(currentTarget.valueAsNumber || 0)}
          />
        </label>
        {document === undefined && !isAsked && (
          <Button type="submit" variant="outlined">
            Replay
          </Button>
        )}
      </form>
      {replay.isFetching && <p className="muted">Replaying…</p>}
      {document !== undefined && checked !== undefined && !isUsable && (
        <p className="muted">The numbers follow once the text can be used.</p>
      )}
      {isWanted && replay.error && <Problems error={replay.error} />}
      {isWanted && replay.data && <Replayed replayed={replay.data} isEdited={document !== undefined} />}
    </section>
  )
}

function Replayed({ replayed, isEdited }: { replayed: ReplayedActions; isEdited: boolean }) {
  const { evaluated, skipped, truncated, was, wouldBe, changes } = replayed
  return (
    <div role="status" data-testid="replayed">
      <p>
        {evaluated.toLocaleString('en')} calls looked at{truncated && ', the newest: there were more'}
        {skipped > 0 && `; ${skipped} were left out: redacted, or of tools that are gone`}.
      </p>
      <BeforeAfter was={was} wouldBe={wouldBe} names={['Was', isEdited ? 'With this text' : 'In force']} />
      {changes.map(({ was: before, wouldBe: after, count, actionIds }) => (
        <p key={`${before} ${after}`}>
          {count} from {before} to {after}:{' '}
          {actionIds.slice(0, 5).map((actionId) => (
            <Link key={actionId} to={`/actions/${actionId}`} className="mono">
              #{actionId.slice(-6)}{' '}
            </Link>
          ))}
        </p>
      ))}
      {changes.length === 0 && <p>No verdict would change.</p>}
    </div>
  )
}
