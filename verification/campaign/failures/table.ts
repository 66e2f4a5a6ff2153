import { GUARANTEES } from '../../guarantees/guarantees.ts'
import { FAILURES } from './failures.ts'
import { NOT_OURS } from './not-ours.ts'
import type { NamedTest } from './planted-failure.ts'

const GUARANTEED = '| | guarantee | tests |'
const OURS = '| whose | what went wrong | what of ours prevents it | what would be wrong | noticed by |'
const NOT_OURS_HEADING = '| whose | what went wrong | why it cannot happen here |'

/** The page with the rows of its lists written anew. @throws Error when a table has no heading on the page. */
export const withTables = (page: string): string =>
  (
    [
      [GUARANTEED, guaranteeRows()],
      [OURS, ourRows()],
      [NOT_OURS_HEADING, notOurRows()],
    ] as const
  ).reduce((text, [heading, rows]) => withRows(text, heading, rows), page)

function withRows(page: string, heading: string, rows: readonly string[]): string {
  const lines = page.split('\n')
  const at = lines.indexOf(heading)
  if (at < 0) throw new Error(`the page has no table with the heading ${heading}`)
  const first = at + 2
  const end = lines.findIndex((line, i) => i >= first && !line.startsWith('|'))
  return [...lines.slice(0, first), ...rows, ...lines.slice(end < 0 ? lines.length : end)].join('\n')
}

/** One row for each test. The first row of an invariant has its id, the first row of a guarantee its sentence. */
const guaranteeRows = (): string[] =>
  GUARANTEES.flatMap(({ id, says, tests }, place) => {
    const isFirst = GUARANTEES[place - 1]?.id !== id
    const held = Object.entries(tests).flatMap(([file, names]) =>
      names.length === 0 ? [placeOf(file)] : names.map((name) => noticedBy({ file, name })),
    )
    return held.map((test, i) => row(i === 0 && isFirst ? id : '', i === 0 ? says : '', test))
  })

/** One row for each bug. */
const ourRows = (): string[] =>
  FAILURES.flatMap(({ whose, failure, held, bugs }) =>
    bugs.map(({ bug, test }, i) => row(...(i === 0 ? [whose, failure, held] : ['', '', '']), bug, noticedBy(test))),
  )

const notOurRows = (): string[] => NOT_OURS.map(({ whose, failure, why }) => row(whose, failure, why))

const row = (...cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const noticedBy = ({ file, name }: NamedTest): string => `${name} (${placeOf(file)})`

const placeOf = (file: string): string => `\`${file.replace(/^packages\/(?:server\/src\/)?/, '')}\``
