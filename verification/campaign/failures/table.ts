import { FAILURES } from './failures.ts'
import { NOT_OURS } from './not-ours.ts'
import type { NamedTest } from './planted-failure.ts'

/** The rows of the table in `docs/concepts/guarantees.md`, one for each planted failure. */
export const ourRows = (): string[] =>
  FAILURES.flatMap(({ whose, failure, held, bugs }) =>
    bugs.map(({ bug, test }, i) => row(...(i === 0 ? [whose, failure, held] : ['', '', '']), bug, noticedBy(test))),
  )

/** The rows of what cannot happen here. */
export const notOurRows = (): string[] => NOT_OURS.map(({ whose, failure, why }) => row(whose, failure, why))

const row = (...cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const noticedBy = ({ file, name }: NamedTest): string => `${name} (\`${file.replace(/^packages\/(?:server\/src\/)?/, '')}\`)`
