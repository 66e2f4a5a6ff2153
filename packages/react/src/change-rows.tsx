import type { Action } from '@countersign/client'
import { changesOf, LONG_PREVIEW_ROWS, splitLines, stays, valueText } from '@countersign/core/text'
import { memo } from 'react'
import { CardButton } from './card-button.tsx'
import { DIFF, isWordy } from './diff-part.ts'
import { FOLDED, LongText } from './long-text.tsx'
import { type Part, usePart } from './parts.ts'
import { PlainDiff } from './plain-diff.tsx'
import { MARKS, showInvisible } from './show-text.ts'
import type { Against } from './shown-text.tsx'
import { clockText } from './time.ts'

type Row = NonNullable<Action['preview']>[number]

type ChangeRowsProps = {
  action: Action
  nowMs: number
  /** Id of the person, for the files that they mark as viewed. */
  viewer: string
  onLookAgain?: (() => void) | undefined
}

/**
 * Shows the changes: field, old value → new value. A creation has new values only, a deletion old ones only. Unverified descriptions of
 * the call have a box of their own.
 */
export function ChangeRows({ action, nowMs, viewer, onLookAgain }: ChangeRowsProps) {
  const { preview, previewError, previewedAt } = action
  // The card draws all of itself again once the part is there.
  const diffs = DIFF.get()
  const again = onLookAgain ? (
    <CardButton className="cs-small cs-quiet" onClick={onLookAgain}>
      Look again
    </CardButton>
  ) : null
  const said = preview?.some(({ unverified }) => unverified) ? <Said rows={preview} /> : null
  if (preview === null || (said && changesOf(preview).length === 0)) {
    return (
      <>
        <p className="cs-unknown">
          Current values unknown.{previewError && ` ${showInvisible(previewError)}`} {again}
        </p>
        {said}
      </>
    )
  }
  const rows = preview.map(
    (row, index) => () =>
      row.unverified ? null : (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one preview are never reordered, and a field may occur twice
        <li key={index}>
          <span className="cs-field">{showInvisible(row.field)}</span>
          <Values row={row} rows={preview} path={`preview/${index}`} diffs={diffs} />
          {row.diff && (
            <Diff parts={diffs} diff={row.diff} path={`preview/${index}/diff`} viewer={`${viewer} ${action.id} ${action.revision}`} />
          )}
        </li>
      ),
  )
  const draw = (some: typeof rows) => some.map((row) => row())
  const rest = rows.slice(LONG_PREVIEW_ROWS)
  // As with diffs: the card draws all of itself again once the part is there.
  const { FoldedRows } = FOLDED.get().module ?? {}
  return (
    <div className="cs-changes">
      <ul>{draw(rows.slice(0, LONG_PREVIEW_ROWS))}</ul>
      {rest.length > 0 && FoldedRows ? <FoldedRows count={rest.length} rows={() => draw(rest)} /> : null}
      {/* Without a precondition nothing was read: the rows are the arguments themselves. */}
      {previewedAt === null || action.precondition === null ? null : (
        <p className="cs-note">
          Current values as of <time dateTime={previewedAt}>{clockText(previewedAt, nowMs)}</time> {again}
        </p>
      )}
      {previewError === null ? null : <p className="cs-unknown">{showInvisible(previewError)}</p>}
      {said}
    </div>
  )
}

type DiffParts = Part<typeof import('./diff/index.ts')>

function Diff({ parts, diff, path, viewer }: { parts: DiffParts; diff: string; path: string; viewer: string }) {
  if (parts.state === 'loading') return <span className="cs-note">Loading the diff…</span>
  return parts.module ? <parts.module.DiffText diff={diff} path={path} viewer={viewer} /> : <PlainDiff diff={diff} path={path} />
}

/** Shows descriptions of the call by others, marked as not verified. */
function Said({ rows }: { rows: readonly Row[] }) {
  return rows.map((row, index) =>
    row.unverified ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one preview are never reordered
      <figure key={index} className="cs-says">
        <figcaption>{showInvisible(row.field)} (not verified)</figcaption>
        <blockquote dir="auto">
          <LongText
            text={(row.oldValue === undefined ? '' : `${valueText(row.oldValue)} → `) + valueText(row.newValue)}
            path={`preview/${index}/new`}
            lines
          />
        </blockquote>
      </figure>
    ) : null,
  )
}

type ValuesProps = {
  row: Row
  /** All rows of the preview: the currency of an amount is in another one. */
  rows: readonly Row[]
  path: string
  diffs: DiffParts
}

/** Drawn once for each row: to tell long values apart takes a while. */
const Values = memo(function Values({ row, rows, path, diffs }: ValuesProps) {
  const { oldValue, newValue } = row
  const marks = usePart(MARKS, false)
  const values = usePart(FOLDED, false).module
  const isSame = stays(row)
  // A list may be a table.
  const Box = Array.isArray(newValue ?? oldValue) ? 'div' : 'span'
  const alike =
    oldValue === undefined || newValue === undefined ? undefined : marks.module?.tellApart(valueText(oldValue), valueText(newValue))
  if (isSame) {
    return (
      <Box className="cs-values" dir={dirOf(newValue)}>
        <Value row={row} rows={rows} side="new" path={path} />
      </Box>
    )
  }
  const by = typeof oldValue === 'number' && typeof newValue === 'number' ? values?.differenceOf(oldValue, newValue) : undefined
  const MarkedText = isWordy(row) ? diffs.module?.MarkedText : undefined
  const against = (other: unknown, side: 'old' | 'new'): Against | undefined => MarkedText && { MarkedText, other: valueText(other), side }
  const sides = (
    <Box className="cs-values">
      {oldValue === undefined ? null : (
        <>
          <span className="cs-hidden">{newValue === undefined ? 'removes' : 'from'} </span>
          <del dir={dirOf(oldValue)} className={blockOf(oldValue)}>
            <Value row={row} rows={rows} side="old" path={path} against={against(newValue, 'old')} />
          </del>
        </>
      )}
      {oldValue === undefined || newValue === undefined ? null : <span aria-hidden="true"> → </span>}
      {newValue === undefined ? null : (
        <>
          <span className="cs-hidden">{oldValue === undefined ? 'sets' : ' to'} </span>
          <ins dir={dirOf(newValue)} className={blockOf(newValue)}>
            <Value row={row} rows={rows} side="new" path={path} against={against(oldValue, 'new')} />
          </ins>
        </>
      )}
      {by === undefined ? null : <span className="cs-delta"> ({by})</span>}
      {alike === undefined ? null : <strong className="cs-alike"> {alike}</strong>}
    </Box>
  )
  return values ? (
    <values.ChangedLines row={row} path={path}>
      {sides}
    </values.ChangedLines>
  ) : (
    sides
  )
})

/** The entries of a list have a direction each. */
export const dirOf = (value: unknown): 'auto' | undefined => (Array.isArray(value) ? undefined : 'auto')

/** A text of several lines has an edge of its own, so that no line of it can be taken for a field of the card. */
const blockOf = (value: unknown): string | undefined => (splitLines(valueText(value)).length > 1 ? 'cs-several' : undefined)

export type ValueProps = Pick<ValuesProps, 'row' | 'rows' | 'path'> & { side: 'old' | 'new'; against?: Against | undefined }

/** One value: as text, until the part is there that shows a list by its entries, and a time or an amount as people read it. */
export function Value(props: ValueProps) {
  const { module } = usePart(FOLDED, false)
  const { row, side, path, against } = props
  const text = <LongText text={valueText(row[`${side}Value`])} path={`${path}/${side}`} lines="between" against={against} />
  return module ? <module.ShownValue {...props}>{text}</module.ShownValue> : text
}
