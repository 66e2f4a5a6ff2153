import { STATE_WORDS, showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { Loaded } from '../ui/index.ts'

const SHOWN = 5

/** The newest calls of a tool that this person may see, and the way to all of them. */
export function LastCalls({ tool }: { tool: string }) {
  const { client } = useServices()
  const nowMs = useNow()
  const calls = useQuery({
    queryKey: ['tools', tool, 'calls'],
    queryFn: ({ signal }) => client.actions.list({ tool, limit: SHOWN }, { signal }),
  })
  return (
    <section aria-labelledby="calls-title">
      <h2 id="calls-title">Last calls</h2>
      <Loaded of={calls} height={140}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">Nobody has called it yet.</p>
          ) : (
            <>
              <ul className="rule-lines" aria-label="Last calls">
                {items.map(({ id, description, state, createdAt }) => (
                  <li key={id} data-testid="tool-call">
                    <span aria-hidden="true">{STATE_WORDS[state].mark}</span>{' '}
                    <Link to={`/actions/${id}`}>{showInvisible(description)}</Link>{' '}
                    <span className="muted">
                      {STATE_WORDS[state].word},{' '}
                      <time dateTime={createdAt} title={fullTime(createdAt)}>
                        {relativeTime(createdAt, nowMs)}
                      </time>
                    </span>
                  </li>
                ))}
              </ul>
              <p>
                <Link to={`/history?${new URLSearchParams({ q: `tool:${tool}` })}`}>All decided calls</Link>
              </p>
            </>
          )
        }
      </Loaded>
    </section>
  )
}
