import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { HeadRow } from '../ui/head-row.tsx'
import { Button } from '../ui/index.ts'
import { type Figure, partsOf, totalsOf } from './figure.ts'
import { saveCsv, savePng } from './save-figure.ts'
import { valueText } from './words.ts'

/** A table of more columns does not fit beside another one. */
const MOST_BESIDE = 4

/** A chart with its table, and how to save both. */
export function FigureView({ figure }: { figure: Figure }) {
  const { id, title, kind, rows, columns, empty } = figure
  return (
    <section className="figure" data-wide={columns.length > MOST_BESIDE} aria-labelledby={`${id}-title`} data-testid={`figure-${id}`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {rows.length === 0 ? (
        <p className="muted">{empty}</p>
      ) : (
        <>
          <Legend figure={figure} />
          {kind === 'bars' ? (
            <FigureTable figure={figure} />
          ) : (
            <>
              <Columns figure={figure} />
              <details>
                <summary>Table</summary>
                <FigureTable figure={figure} />
              </details>
            </>
          )}
          <div className="figure-tools">
            <Button aria-label={`Save ${title} as CSV`} onClick={() => saveCsv(figure)}>
              CSV
            </Button>
            <Button aria-label={`Save ${title} as PNG`} onClick={() => savePng(figure)}>
              PNG
            </Button>
          </div>
        </>
      )}
    </section>
  )
}

function Legend({ figure: { columns } }: { figure: Figure }) {
  const drawn = columns.filter(({ tone }) => tone)
  if (drawn.length < 2) return null
  return (
    <ul className="figure-legend" aria-hidden="true">
      {drawn.map(({ name, tone }) => (
        <li key={name}>
          <span className="figure-part" data-tone={tone} /> {name}
        </li>
      ))}
    </ul>
  )
}

/** Numbers over more columns would run into each other. */
const MOST_NUMBERS = 14

/** Columns side by side. The table below says the same in numbers. */
function Columns({ figure }: { figure: Figure }) {
  const { title, rows, columns } = figure
  const step = Math.ceil(rows.length / 8)
  const [most] = [...rows].sort((a, b) => sum(b.values) - sum(a.values))
  const label = `${title}: ${rows.length} columns, the highest is ${most?.name} with ${sum(most?.values ?? [])} ${columns[0]?.unit === 'tokens' ? 'tokens' : 'in all'}. The table has every number.`
  return (
    <div className="figure-columns" role="img" aria-label={showInvisible(label)}>
      {rows.map((row, at) => (
        <div key={row.key ?? row.name} className="figure-column" title={`${row.name}: ${sum(row.values).toLocaleString('en')}`}>
          <span className="figure-top">{rows.length <= MOST_NUMBERS ? sum(row.values).toLocaleString('en') : '\u00a0'}</span>
          <div className="figure-stack">
            {partsOf(figure, row).map(({ tone, share }, part) => (
              <span key={columns[part]?.name} className="figure-part" data-tone={tone} style={{ height: `${share * 100}%` }} />
            ))}
          </div>
          <span className="figure-tick">{at % step === 0 ? row.name : '\u00a0'}</span>
        </div>
      ))}
    </div>
  )
}

const sum = (values: readonly (number | null)[]): number => values.reduce<number>((total, value) => total + (value ?? 0), 0)

function FigureTable({ figure }: { figure: Figure }) {
  const { title, of, columns, rows, kind, layout } = figure
  const totals = totalsOf(figure)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on a narrow screen, also with the keyboard
    <section className="figure-scroll" aria-label={`${title}, table`} tabIndex={0}>
      <table className="counts" data-testid="figure-table">
        <HeadRow names={[of, ...columns.map(({ name }) => name)]} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.key ?? row.name}>
              <th scope="row">
                {row.href ? <Link to={row.href}>{showInvisible(row.name)}</Link> : showInvisible(row.name)}
                {kind === 'bars' && (
                  <span className="figure-bar" data-layout={layout} aria-hidden="true">
                    {partsOf(figure, row).map(({ tone, share }, part) => (
                      <span key={columns[part]?.name} className="figure-part" data-tone={tone} style={{ width: `${share * 100}%` }} />
                    ))}
                  </span>
                )}
              </th>
              {columns.map(({ name, unit }, at) => (
                <td key={name}>{valueText(row.values[at] ?? null, unit)}</td>
              ))}
            </tr>
          ))}
        </tbody>
        {rows.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              {columns.map(({ name, unit }, at) => (
                <td key={name} data-testid={`total-${name}`}>
                  {totals[at] === null ? '' : valueText(totals[at] ?? null, unit)}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  )
}
