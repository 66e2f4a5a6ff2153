import { areAlike, valueText } from '@countersign/core/text'
import { ColumnHead, cellOf, LineCell } from '../lines-table.tsx'
import { usePart } from '../parts.ts'
import { MARKS, showInvisible } from '../show-text.ts'
import { type ChangedLine, changesIn, kindOf, type LinesChange } from './compare-lines.ts'

/** As an edge and a word, never by colour alone. */
const SIGNS = { added: '+', removed: '−', changed: '~', unchanged: '' }

/**
 * The entries of a list that changes, one row each: what was added, removed or changed, and each changed value as old → new. With `isReordered` also
 * the place of each.
 * @param all The rows that the line above counts; `rows` may be the first of them.
 */
export function ChangesTable({ columns, rows, all, isReordered }: LinesChange & { all: readonly ChangedLine[] }) {
  return (
    <table className="cs-lines" data-wide={columns.length + Number(isReordered) > 4 || undefined}>
      <caption>
        {summaryOf(all)}
        {isReordered ? '; the order changes' : ''}
      </caption>
      <thead>
        <tr>
          <ColumnHead column="Change" />
          {isReordered ? <ColumnHead column="Place" /> : null}
          {columns.map((column) => (
            <ColumnHead key={column} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const kind = kindOf(row)
          return (
            <tr key={`${row.from} ${row.to}`} data-change={kind}>
              <td data-column="Change" className="cs-figure">
                <span>
                  <span aria-hidden="true">{SIGNS[kind]}</span> {kind}
                </span>
              </td>
              {isReordered ? (
                <td data-column="Place">
                  <span className="cs-figure">{placeOf(row)}</span>
                </td>
              ) : null}
              {columns.map((column) => (
                <td key={column} data-column={showInvisible(column)}>
                  <Cell row={row} column={column} />
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** "1 added, 2 changed, 14 unchanged". */
const summaryOf = (rows: readonly ChangedLine[]): string =>
  (['added', 'removed', 'changed', 'unchanged'] as const)
    .map((kind) => ({ kind, many: rows.filter((row) => kindOf(row) === kind).length }))
    .filter(({ many }) => many > 0)
    .map(({ kind, many }) => `${many.toLocaleString('en')} ${kind}`)
    .join(', ')

const placeOf = ({ from, to }: ChangedLine): string =>
  from === undefined || to === undefined || from === to ? `${to ?? from}` : `${from} → ${to}`

function Cell({ row, column }: { row: ChangedLine; column: string }) {
  const { before, after } = row
  const isChange = changesIn(row, column)
  if (before && after && !isChange) return <LineCell line={after} column={column} />
  const [old, now] = [before, after].map((line) => (line && cellOf(line, column) !== undefined ? line : undefined))
  // One box: where the table is narrow, it stands beside the name of its column.
  return (
    <span>
      {old ? (
        <del>
          {isChange ? <span className="cs-hidden">from </span> : null}
          <LineCell line={old} column={column} />
        </del>
      ) : null}
      {isChange ? <span aria-hidden="true"> → </span> : null}
      {now ? (
        <ins>
          {isChange ? <span className="cs-hidden"> to </span> : null}
          <LineCell line={now} column={column} />
        </ins>
      ) : null}
      {old && now ? <Alike old={valueText(cellOf(old, column))} now={valueText(cellOf(now, column))} /> : null}
    </span>
  )
}

/** How two values of a cell differ that look the same. */
function Alike({ old, now }: { old: string; now: string }) {
  const alike = usePart(MARKS, areAlike(old, now)).module?.tellApart(old, now)
  return alike === undefined ? null : <strong className="cs-alike"> {alike}</strong>
}
