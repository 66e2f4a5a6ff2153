import type { Objective } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useState } from 'react'
import { Link } from 'react-router'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { LoadedRows, useList } from '../ui/index.ts'
import { Bar } from './bar.tsx'
import { standingWords } from './words.ts'
import '../ui/pages.css'
import './objectives.css'

/** `/objectives`: lists objectives and their progress. Agents change them through the gate; this page is read-only. */
export default function ObjectivesPage() {
  const { client } = useServices()
  const [shown, setShown] = useState<'open' | 'all'>('open')
  const objectives = useList(['objectives', shown], (cursor, signal) =>
    client.objectives.list({ cursor, ...(shown === 'open' && { state: 'open' as const }) }, { signal }),
  )
  return (
    <Page title="Objectives" subtitle="Goals and their progress">
      <div className="stack">
        <PageBanner />
        <label className="objectives-shown">
          <input type="checkbox" checked={shown === 'all'} onChange={(event) => setShown(event.target.checked ? 'all' : 'open')} />
          Show closed
        </label>
        <LoadedRows
          of={objectives}
          height={320}
          label="Objectives"
          empty={
            <div className="empty">
              <h2>No objectives</h2>
              <p>Ask an agent to set one. It appears after a person approves it.</p>
            </div>
          }
        >
          {(objective) => <ObjectiveRow key={objective.id} objective={objective} />}
        </LoadedRows>
      </div>
    </Page>
  )
}

function ObjectiveRow({ objective }: { objective: Objective }) {
  const { id, title, owner, period, standing, progress, keyResults } = objective
  return (
    <li className="row-card" data-testid="objective" data-standing={standing}>
      <div className="row-head">
        <Link to={`/objectives/${id}`} className="objective-title">
          {showInvisible(title)}
        </Link>
        <span className="badge-text">{standingWords(objective)}</span>
      </div>
      {progress !== null && <Bar value={progress} label={`Progress of ${showInvisible(title)}`} />}
      <p className="muted">
        {showInvisible(owner)} · {showInvisible(period)} · {keyResults.length === 1 ? '1 key result' : `${keyResults.length} key results`}
      </p>
    </li>
  )
}
