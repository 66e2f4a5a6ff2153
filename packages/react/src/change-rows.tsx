import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { DiffText, LONG_DIFF_CHARS } from './diff-text.tsx'
import { LONG_TEXT_CHARS, LongText } from './long-text.tsx'
import { clockText } from './time.ts'

type Row = NonNullable<Action['preview']>[number]

/** A value in one line: strings as they are, unless they are empty or could be taken for a number or a word of JSON. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' && value.trim() !== '' && !/^(-?[\d.]+|true|false|null|[[{"].*)$/s.test(value) ? value : JSON.stringify(value)

/** What would change: field, old → new. A creation has new values only, a deletion old ones only. */
export function ChangeRows({ action, nowMs, onLookAgain }: { action: Action; nowMs: number; onLookAgain?: (() => void) | undefined }) {
  const { preview, previewError, previewedAt } = action
  const again = onLookAgain ? (
    <button type="button" className="cs-button cs-small cs-quiet" onClick={onLookAgain}>
      Look again
    </button>
  ) : null
  if (preview === null) {
    return (
      <p className="cs-unknown">
        Current values unknown.{previewError === null ? '' : ` ${showInvisible(previewError)}`} {again}
      </p>
    )
  }
  return (
    <div className="cs-changes">
      <ul>
        {preview.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one preview are never reordered, and a field may occur twice
          <li key={index}>
            <span className="cs-field">{showInvisible(row.field)}</span>
            <Values row={row} path={`preview/${index}`} />
            {row.diff ? <DiffText diff={row.diff} path={`preview/${index}/diff`} /> : null}
          </li>
        ))}
      </ul>
      {previewedAt === null ? null : (
        <p className="cs-note">
          Current values as of <time dateTime={previewedAt}>{clockText(previewedAt, nowMs)}</time> {again}
        </p>
      )}
      {previewError === null ? null : <p className="cs-unknown">{showInvisible(previewError)}</p>}
    </div>
  )
}

/** The paths of the long values in a preview, as {@link ChangeRows} names them. */
export const longRowPaths = (preview: Action['preview']): string[] =>
  (preview ?? []).flatMap(({ oldValue, newValue, diff }, index) => [
    ...(isLong(oldValue) && !stays({ oldValue, newValue }) ? [`preview/${index}/old`] : []),
    ...(isLong(newValue) ? [`preview/${index}/new`] : []),
    ...(diff && diff.length > LONG_DIFF_CHARS ? [`preview/${index}/diff`] : []),
  ])

const isLong = (value: unknown): boolean => value !== undefined && valueText(value).length > LONG_TEXT_CHARS

/** What a change is about and leaves as it is: the name of an issue, beside what becomes of it. */
const stays = ({ oldValue, newValue }: Pick<Row, 'oldValue' | 'newValue'>): boolean =>
  oldValue !== undefined && JSON.stringify(oldValue) === JSON.stringify(newValue)

function Values({ row: { oldValue, newValue }, path }: { row: Row; path: string }) {
  if (stays({ oldValue, newValue })) {
    return (
      <span className="cs-values" dir="auto">
        <LongText text={valueText(newValue)} path={`${path}/new`} />
      </span>
    )
  }
  return (
    <span className="cs-values">
      {oldValue === undefined ? null : (
        <>
          <span className="cs-hidden">{newValue === undefined ? 'removes' : 'from'} </span>
          <del dir="auto">
            <LongText text={valueText(oldValue)} path={`${path}/old`} />
          </del>
        </>
      )}
      {oldValue === undefined || newValue === undefined ? null : <span aria-hidden="true"> → </span>}
      {newValue === undefined ? null : (
        <>
          <span className="cs-hidden">{oldValue === undefined ? 'sets' : ' to'} </span>
          <ins dir="auto">
            <LongText text={valueText(newValue)} path={`${path}/new`} />
          </ins>
        </>
      )}
      {typeof oldValue === 'number' && typeof newValue === 'number' ? (
        <span className="cs-delta"> ({difference(oldValue, newValue)})</span>
      ) : null}
    </span>
  )
}

function difference(oldValue: number, newValue: number): string {
  // 12 digits: 0.1 + 0.2 is not to be shown to a person.
  const by = Number((newValue - oldValue).toPrecision(12))
  return by > 0 ? `+${by}` : `${by}`
}
