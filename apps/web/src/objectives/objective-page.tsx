import type { KeyResult, Objective, ObjectiveChange } from '@countersign/client'
import { showInvisible, showLines } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { fullTime } from '../time/relative.ts'
import { Loaded, More, useList } from '../ui/index.ts'
import { Bar } from './bar.tsx'
import { changedFields, KIND_WORDS, standingWords, valueWords } from './words.ts'
import '../ui/pages.css'
import './objectives.css'

/** `/objectives/:objectiveId`: its key results, and every change with who asked for it and the action that made it. */
export default function ObjectivePage() {
  const { objectiveId = '' } = useParams()
  const { client } = useServices()
  const objective = useQuery({
    queryKey: ['objective', objectiveId],
    queryFn: ({ signal }) => client.objectives.get(objectiveId, { signal }),
  })
  const history = useList(['objective-history', objectiveId], (cursor, signal) =>
    client.objectives.history(objectiveId, { cursor }, { signal }),
  )
  return (
    <Page title={objective.data?.title ?? 'Objective'} subtitle={objective.data && standingWords(objective.data)}>
      <div className="stack">
        <PageBanner />
        <p>
          <Link to="/objectives">All objectives</Link>
        </p>
        <Loaded of={objective} height={260}>
          {(found) => <Measured objective={found} />}
        </Loaded>
        {objective.data && (
          <section aria-labelledby="history">
            <h2 id="history">History</h2>
            <Loaded of={history} height={200}>
              {(changes) => (
                <ul className="rows" aria-label="Changes">
                  {changes.map((change) => (
                    <ChangeRow key={change.id} change={change} keyResults={objective.data.keyResults} />
                  ))}
                </ul>
              )}
            </Loaded>
            <More of={history} />
          </section>
        )}
      </div>
    </Page>
  )
}

function Measured({ objective }: { objective: Objective }) {
  const { description, owner, period, progress, elapsed, keyResults, title } = objective
  return (
    <>
      <section className="panel" aria-label="Objective" data-standing={objective.standing}>
        {description !== '' && <p className="objective-description">{showLines(description)}</p>}
        {progress !== null && <Bar value={progress} label={`Progress of ${showInvisible(title)}`} />}
        <p className="muted">
          {showInvisible(owner)} · {showInvisible(period)}, {elapsed} % of it over
        </p>
      </section>
      <section aria-labelledby="key-results">
        <h2 id="key-results">Key results</h2>
        {keyResults.length === 0 ? (
          <p className="muted">None yet: an objective without one cannot be measured.</p>
        ) : (
          <ul className="rows" aria-label="Key results">
            {keyResults.map((keyResult) => (
              <KeyResultRow key={keyResult.id} keyResult={keyResult} />
            ))}
          </ul>
        )}
      </section>
    </>
  )
}

function KeyResultRow({ keyResult: { title, metric, unit, start, target, current, progress } }: { keyResult: KeyResult }) {
  return (
    <li className="row-card" data-testid="key-result">
      <strong>{showInvisible(title)}</strong>
      <Bar value={progress} label={`Progress of ${showInvisible(title)}`} />
      <p className="muted">
        {metric !== '' && `${showInvisible(metric)}: `}
        {valueWords(current, unit)} now, from {valueWords(start, unit)} to {valueWords(target, unit)}
      </p>
    </li>
  )
}

function ChangeRow({ change, keyResults }: { change: ObjectiveChange; keyResults: readonly KeyResult[] }) {
  const { kind, keyResultId, note, by, actionId, at } = change
  const about = keyResults.find(({ id }) => id === keyResultId)
  return (
    <li className="row-card" data-testid="objective-change" data-kind={kind}>
      <div className="row-head">
        <strong>{KIND_WORDS[kind]}</strong>
        {about && <span>{showInvisible(about.title)}</span>}
      </div>
      <dl className="change-fields">
        {changedFields(change).map(({ field, was, is }) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>
              {was !== undefined && <del>{was}</del>}
              {was !== undefined && is !== undefined && <span aria-hidden="true"> → </span>}
              {is !== undefined && <ins>{is}</ins>}
            </dd>
          </div>
        ))}
      </dl>
      {note !== null && <p>{showInvisible(note)}</p>}
      <p className="muted">
        <time dateTime={at}>{fullTime(at)}</time>
        {by && ` · asked for by ${showInvisible(by.name)}`}
        {actionId !== null && (
          <>
            {' · '}
            <Link to={`/actions/${actionId}`}>the action</Link>
          </>
        )}
      </p>
    </li>
  )
}
