import type { Stats } from '@countersign/client'
import { showInvisible, spanText } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress, useTypedParam } from '../shell/use-address.ts'
import { Loaded, Options, Unseen } from '../ui/index.ts'
import { AlwaysApproved } from './always-approved.tsx'
import { FigureView } from './figure-view.tsx'
import { figuresOf, historyOf } from './figures.ts'
import { DEFAULT_RANGE, RANGES, statsQueryOf } from './range.ts'
import '../ui/pages.css'
import './dashboard.css'

const EVERY_MS = 60_000

/** `/dashboard`: how much is asked, how fast people decide, and what comes of it. */
export default function DashboardPage() {
  const { client } = useServices()
  const { params } = useAddress()
  const stats = useQuery({
    queryKey: ['stats', params.toString()],
    queryFn: ({ signal }) => client.stats(statsQueryOf(params, Date.now()), { signal }),
    refetchInterval: EVERY_MS,
  })
  return (
    <Page title="Dashboard" subtitle="How actions are decided, and how they end">
      <div className="stack wide" data-testid="dashboard">
        <PageBanner />
        <Filters stats={stats.data} />
        <Loaded of={stats} height={600}>
          {(data) => (
            <>
              <Summary stats={data} />
              {!data.actions.isComplete && (
                <p className="muted">There were more than a million proposals: the newest million is counted.</p>
              )}
              <div className="figures">
                {figuresOf(data).map((figure) => (
                  <FigureView key={figure.id} figure={figure} />
                ))}
                <AlwaysApproved tools={data.actions.alwaysApproved} />
              </div>
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}

function Filters({ stats }: { stats: Stats | undefined }) {
  const { params, set } = useAddress()
  const tool = useTypedParam('tool')
  const agent = useTypedParam('agent')
  const names = { tool: stats?.actions.byTool.map((each) => each.tool) ?? [], agent: [...new Set(stats?.models.map((each) => each.agent))] }
  return (
    <form className="filters" aria-label="Statistics" onSubmit={(event) => event.preventDefault()}>
      <label>
        Time
        <select
          value={params.get('range') ?? DEFAULT_RANGE}
          onChange={({ currentTarget: { value } }) => set('range', value === DEFAULT_RANGE ? '' : value)}
        >
          <Options of={RANGES.map(({ name, words }) => [name, words])} />
        </select>
      </label>
      {(
        [
          ['tool', 'Tool', tool],
          ['agent', 'Agent', agent],
        ] as const
      ).map(([name, label, { typed, setTyped }]) => (
        <label key={name}>
          {label}
          <input
            value={typed}
            list={`stats-${name}`}
            placeholder="All"
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <datalist id={`stats-${name}`}>
            {names[name].map((each) => (
              <option key={each} value={each} label={showInvisible(each)} />
            ))}
          </datalist>
        </label>
      ))}
      <Unseen text={tool.typed + agent.typed} />
    </form>
  )
}

/** The numbers that somebody looks for first. */
function Summary({ stats }: { stats: Stats }) {
  const { actions, decisions, waiting } = stats
  const { answers, byState } = actions
  const decided = answers.approved + answers.declined
  const tiles: { name: string; value: string; href?: string; id: string }[] = [
    { id: 'waiting', name: 'Waiting now', value: waiting.toLocaleString('en'), href: '/waiting?view=waiting' },
    { id: 'proposed', name: 'Proposed', value: actions.total.toLocaleString('en') },
    {
      id: 'decisions',
      name: 'Decisions of people',
      value: decisions.count.toLocaleString('en'),
      href: historyOf({ verdict: 'ask' }, stats),
    },
    { id: 'approved', name: 'Approved', value: decided === 0 ? '–' : `${Math.round((answers.approved / decided) * 100)} %` },
    { id: 'p50', name: 'Time to decide, p50', value: decisions.medianMs === null ? '–' : spanText(decisions.medianMs) },
    { id: 'p95', name: 'Time to decide, p95', value: decisions.p95Ms === null ? '–' : spanText(decisions.p95Ms) },
    { id: 'unknown', name: 'Outcome unknown', value: (byState.outcome_unknown ?? 0).toLocaleString('en'), href: '/waiting?view=unknown' },
  ]
  return (
    <dl className="tiles">
      {tiles.map(({ id, name, value, href }) => (
        <div key={id} data-testid={`tile-${id}`}>
          <dt>{href ? <Link to={href}>{name}</Link> : name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
