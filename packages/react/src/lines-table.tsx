import { valueText } from '@countersign/core/text'
import { showInvisible } from './show-text.ts'
import { ReadAs } from './values/read-as.tsx'

export const MAX_COLUMNS = 6
/** A longer list is text: its rows would take seconds to lay out. */
const MAX_LINES = 500

export type Line = Record<string, unknown>

/** The columns of a list whose entries are objects of plain values, such as the lines of an order; undefined for every other value. */
export function columnsOf(value: unknown): { lines: Line[]; columns: string[] } | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LINES) return undefined
  if (!value.every((line) => isLine(line))) return undefined
  const columns = [...new Set(value.flatMap((line) => Object.keys(line)))]
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? { lines: value, columns } : undefined
}

const isLine = (line: unknown): line is Line =>
  line !== null &&
  typeof line === 'object' &&
  !Array.isArray(line) &&
  Object.values(line).every((cell) => cell === null || typeof cell !== 'object')

/** The longest text that is never broken. */
const MAX_FIGURE_CHARS = 14

/** True for a price, a count, an id: short, with a digit. It must be read in one piece. */
const isFigure = (text: string): boolean => text.length <= MAX_FIGURE_CHARS && /\d/.test(text)

/** The value of a line in one column; undefined where the line has no such member. */
export const cellOf = (line: Line, column: string): unknown => (Object.hasOwn(line, column) ? line[column] : undefined)

/** One value of a line; nothing where the line has no such member. */
export function LineCell({ line, column }: { line: Line; column: string }) {
  const value = cellOf(line, column)
  const text = value === undefined ? '' : showInvisible(valueText(value))
  return (
    <span dir="auto" className={isFigure(text) ? 'cs-figure' : undefined}>
      <ReadAs value={value} place={{ name: column, beside: Object.entries(line) }}>
        {text}
      </ReadAs>
    </span>
  )
}

/** The name of a column, above its cells. */
export const ColumnHead = ({ column }: { column: string }) => (
  <th scope="col" className={column.length <= MAX_FIGURE_CHARS ? 'cs-figure' : undefined}>
    {showInvisible(column)}
  </th>
)

/** The lines of a list, one row each; where that is too narrow, each value stands beside the name of its column. */
export function LinesTable({ lines, columns }: { lines: readonly Line[]; columns: readonly string[] }) {
  return (
    <table className="cs-lines" data-wide={columns.length > 4 || undefined}>
      <thead>
        <tr>
          {columns.map((column) => (
            <ColumnHead key={column} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one list are never reordered
          <tr key={index}>
            {columns.map((column) => (
              <td key={column} data-column={showInvisible(column)}>
                <LineCell line={line} column={column} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
