import type { ReplayedActions } from '@countersign/client'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
import { Problems } from './policy-editor.tsx'

/** Evaluates policy for the calls of the last days. */
export function Replay({ document, isOpen = false }: { document: string | undefined; isOpen?: boolean }) {
  const { client } = useServices()
  const replay = useMutation({
    mutationFn: ({ days, document }: { days: number; document: string | undefined }) =>
      client.policy.replay({ replay: { days }, ...(document !== undefined && { document }) }),
  })
  // The numbers of another text say nothing about this one.
  const isOfThis = replay.variables?.document === document
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    replay.mutate({ days: Number(new FormData(event.currentTarget).get('days')), document })
  }
  return (
    <details className="panel" open={isOpen}>
      <summary>Replay what happened{document === undefined ? '' : ' with the edited text'}</summary>
      <form className="filters" onSubmit={submit}>
        <label>
          Days back
          <input name="days" type="number" min={1} max={400} defaultValue={30} required />
        </label>
        <Button type="submit" variant="outlined" disabled={replay.isPending}>
          {replay.isPending ? 'Replaying…' : 'Replay'}
        </Button>
      </form>
      {isOfThis && replay.error && <Problems error={replay.error} />}
      {isOfThis && replay.data && <Replayed replayed={replay.data} />}
    </details>
  )
}

function Replayed({ replayed: { evaluated, skipped, truncated, was, wouldBe, changes } }: { replayed: ReplayedActions }) {
  return (
    <div role="status" data-testid="replayed">
      <p>
        {evaluated} calls looked at{truncated && ', the newest: there were more'}
        {skipped > 0 && `; ${skipped} of tools that are gone were left out`}.
      </p>
      <table className="counts">
        <thead>
          <tr>
            <th scope="col">Verdict</th>
            <th scope="col">Was</th>
            <th scope="col">Would be</th>
          </tr>
        </thead>
        <tbody>
          {(['allow', 'ask', 'deny'] as const).map((verdict) => (
            <tr key={verdict}>
              <th scope="row">{verdict}</th>
              <td>{was[verdict]}</td>
              <td>{wouldBe[verdict]}</td>
            </tr>
          ))}
        </tbody>
      </table>
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
