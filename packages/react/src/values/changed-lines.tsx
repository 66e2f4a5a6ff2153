import type { Action } from '@countersign/client'
import { HEAD_CHARS, LONG_TEXT_CHARS, TAIL_CHARS, valueText } from '@countersign/core/text'
import { type ReactNode, useMemo } from 'react'
import { entriesText, OpenedList } from '../opened-list.tsx'
import { RevealButton, useReveal } from '../reveal.tsx'
import { ChangesTable } from './changes-table.tsx'
import { type ChangedLine, compareLines, kindOf, type LinesChange } from './compare-lines.ts'

type Row = NonNullable<Action['preview']>[number]

/** The change from one list of lines to another as one table; every other change as `children`, its old and its new value. */
export function ChangedLines({ row: { oldValue, newValue }, path, children }: { row: Row; path: string; children: ReactNode }) {
  const change = useMemo(() => compareLines(oldValue, newValue), [oldValue, newValue])
  if (change === undefined) return children
  const folded = (['old', 'new'] as const).filter((side) => valueText(side === 'old' ? oldValue : newValue).length > LONG_TEXT_CHARS)
  const [first, second] = folded.map((side) => `${path}/${side}`)
  return (
    <div className="cs-values">
      {first === undefined ? <ChangesTable {...change} all={change.rows} /> : <FoldedChanges change={change} path={first} other={second} />}
    </div>
  )
}

/**
 * A long table: what changes comes first, as much as of a long text, above a button that says how much is hidden. Opened, its entries stand in
 * their order.
 * @param path Of the part that holds the old entries, or the new ones where only those are long; `other`: of the new entries, where both are
 * long.
 */
function FoldedChanges({ change, path, other }: { change: LinesChange; path: string; other: string | undefined }) {
  const { isOpen, box, reveal } = useReveal<HTMLDivElement>(path)
  const { open: openOther } = useReveal(other ?? path)
  const { rows } = change
  if (!isOpen) {
    const shown = headOf(rows)
    return (
      <>
        <ChangesTable {...change} rows={shown} all={rows} />
        <RevealButton
          path={path}
          hidden={entriesText(rows.length - shown.length)}
          onReveal={() => {
            openOther()
            reveal()
          }}
        />
      </>
    )
  }
  const chars = rows.reduce((sum, row) => sum + charsOf(row), 0)
  return (
    <OpenedList box={box} path={path} other={other} chars={chars} count={rows.length}>
      <ChangesTable {...change} all={rows} />
    </OpenedList>
  )
}

const charsOf = ({ before, after }: ChangedLine): number =>
  [before, after].reduce((sum, line) => sum + (line ? valueText(line).length : 0), 0)

/** The rows that are shown at first: those that change before those that stay, each in its order, and never all of them. */
function headOf(rows: readonly ChangedLine[]): ChangedLine[] {
  const sorted = rows.toSorted((one, other) => Number(kindOf(one) === 'unchanged') - Number(kindOf(other) === 'unchanged'))
  let [length, chars] = [0, 0]
  while (length < rows.length - 1 && chars < 2 * (HEAD_CHARS + TAIL_CHARS)) chars += charsOf(sorted[length++] ?? {})
  return sorted.slice(0, length)
}
