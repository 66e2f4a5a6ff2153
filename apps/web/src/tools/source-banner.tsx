import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { fullTime } from '../time/relative.ts'
import { Notice } from '../ui/index.ts'

const LOOK_EVERY_MS = 15_000

/** Shows on every page which sources of tools are away, since when and what that means. Renders nothing while all are there. */
export function SourceBanner() {
  const { client, me } = useServices()
  const sources = useQuery({
    queryKey: ['sources'],
    enabled: me.roles.length > 0,
    queryFn: ({ signal }) => client.toolSources({ signal }),
    refetchInterval: LOOK_EVERY_MS,
  })
  // Without an answer nothing is known of the sources: the banner of the connection says that.
  const away = sources.isError ? [] : (sources.data ?? []).flatMap((source) => (source.away ? [{ ...source, away: source.away }] : []))
  return (
    <div role="status">
      {away.map(({ group, tools, away: { since, why } }) => (
        <div key={group} className="held-banner">
          <Notice
            tone="warning"
            testId="source-away"
            action={<Link to={`/tools?${new URLSearchParams({ source: group })}`}>{tools === 1 ? 'Its tool' : `Its ${tools} tools`}</Link>}
          >
            The source of tools <strong>{showInvisible(group)}</strong> is away since <time dateTime={since}>{fullTime(since)}</time>. Until
            it is back, its calls fail before anything is sent. <span className="muted">{showInvisible(why)}</span>
          </Notice>
        </div>
      ))}
    </div>
  )
}
