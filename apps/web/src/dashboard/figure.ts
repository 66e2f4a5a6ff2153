/** The unit of a number. */
export type Unit = 'count' | 'ms' | 'tokens' | 'money'
export type Tone = 'good' | 'bad' | 'warning' | 'accent' | 'soft' | 'faint' | 'muted'

export interface FigureColumn {
  name: string
  unit: Unit
  /** The colour in the chart; a column without one is only in the table. */
  tone?: Tone
}

export interface FigureRow {
  /** Told apart by this where names can be the same. */
  key?: string
  /** The name of the row that the numbers belong to. It may be somebody else's text. */
  name: string
  /** The list of exactly these. */
  href?: string | undefined
  /** One for each column; null where there is none. */
  values: readonly (number | null)[]
}

/** A chart and its table: both, and what is saved of them, are made from the same rows. */
export interface Figure {
  id: string
  title: string
  /** The heading of the first column. */
  of: string
  /** `columns` for what has an order, such as time; `bars` for names. */
  kind: 'columns' | 'bars'
  /** `stack` where the numbers of a row are parts of one whole, `overlay` where each is measured from zero. */
  layout: 'stack' | 'overlay'
  columns: readonly FigureColumn[]
  rows: readonly FigureRow[]
  /** The sentence where there are no rows. */
  empty: string
}

/** The sum of each column that counts; null for one whose numbers cannot be added up, or are not all known. */
export const totalsOf = ({ columns, rows }: Figure): (number | null)[] =>
  columns.map(({ unit }, at) =>
    unit === 'ms' || (unit === 'money' && rows.some(({ values }) => values[at] === null))
      ? null
      : rows.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  )

/** The parts of a row that are drawn, and how long each is on a scale from 0 to 1. */
export function partsOf({ columns, layout, rows }: Figure, row: FigureRow): { tone: Tone; share: number }[] {
  const whole = Math.max(...rows.map((each) => lengthOf(each, columns, layout)), 1)
  return columns.flatMap(({ tone }, at) => (tone ? [{ tone, share: (row.values[at] ?? 0) / whole }] : []))
}

function lengthOf({ values }: FigureRow, columns: readonly FigureColumn[], layout: Figure['layout']): number {
  const drawn = columns.flatMap(({ tone }, at) => (tone ? [values[at] ?? 0] : []))
  return layout === 'stack' ? drawn.reduce((sum, value) => sum + value, 0) : Math.max(0, ...drawn)
}
