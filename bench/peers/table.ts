import type { Figures, Probe, ProbeName, Report, Row } from './report.ts'

const TITLES: Record<ProbeName, string> = {
  sameDecisionTwice: 'a decision sent twice has one effect',
  crashAfterEffect: 'no second effect after a crash',
  oneOfTwoDeclined: 'two calls, one declined',
  onDiskBeforePause: 'on disk before the pause',
}

const DATABASES: Record<string, string> = { sqlite: 'SQLite', postgres: 'Postgres', own: 'its own' }

const cellsOf = (figures: Figures | undefined): string[] => {
  if (figures === undefined) return ['—', '—', '—']
  const { cyclesPerSecond, ratio, cycleMs } = figures
  const times = [cycleMs.median, cycleMs.p95, cycleMs.p99].map((ms) => Number(ms.toPrecision(3)))
  return [String(cyclesPerSecond), ratio === null ? '—' : `${ratio} ×`, times.join(' / ')]
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const rule = (columns: number): string => `|${'---|'.repeat(columns)}`

const nameOf = (row: Row): string => `${row.name}, ${DATABASES[row.database] ?? row.database}`

function speedTable(rows: readonly Row[]): string[] {
  const head = ['system, database', 'cycles/s at 1', 'ratio', 'ms p50 / p95 / p99', 'cycles/s at 32', 'ratio', 'ms p50 / p95 / p99']
  const probes = Object.keys(TITLES) as ProbeName[]
  return [
    line([...head, ...probes.map((probe) => TITLES[probe])]),
    rule(head.length + probes.length),
    ...rows.map((row) =>
      line([nameOf(row), ...cellsOf(row.at1), ...cellsOf(row.at32), ...probes.map((probe) => row.probes?.[probe].verdict ?? '—')]),
    ),
  ]
}

const sentencesOf = (rows: readonly Row[]): string[] =>
  rows.flatMap((row) => {
    const probes = Object.entries(row.probes ?? {}) as [ProbeName, Probe][]
    const told = probes.filter(([, { verdict }]) => verdict !== 'not applicable')
    if (told.length === 0) return []
    return [`- **${nameOf(row)}**`, ...told.map(([name, { verdict, sentence }]) => `  - ${TITLES[name]}: ${verdict}. ${sentence}`)]
  })

const versionsOf = (rows: readonly Row[]): string => {
  const packages = new Map(rows.flatMap((row) => Object.entries(row.packages)))
  return [...packages].map(([name, version]) => `${name} ${version}`).join(', ')
}

/** The notes below the table. */
const NOTES = [
  'Every cycle is a new session with about 1.1 KB of payload: message, scripted model, ask, approve, tool, model, done. Every system runs in a',
  'process of its own and is idle while it is not its turn. SQLite runs with `synchronous=FULL` everywhere, which is not the default of every',
  'store; Postgres with `fsync` and `synchronous_commit` on. The floor writes the rows and bytes of a Countersign cycle in as many transactions',
  'on the bare database. OpenAI Agents and the AI SDK store nothing: their state is saved by hand at the pause and at the end, as their',
  'documentation shows, without a claim on the decision. In the crash probe the tool is not idempotent.',
]

/** The section of bench/measurements.md, without its heading. */
export function toMarkdown({ at, machine, rounds, blockMs, rows }: Report): string {
  const ran = rows.filter((row) => row.notRun === undefined)
  const missing = rows.filter((row) => row.notRun !== undefined)
  const { cores, cpu, memoryGiB, node, sqlite } = machine
  const versions = versionsOf(ran)
  return [
    `\`npm run bench:peers\`, ${at.slice(0, 10)}: ${cores} cores (${cpu}), ${memoryGiB} GiB, Node ${node}, SQLite ${sqlite}; ${rounds} interleaved`,
    `rounds of ${blockMs / 1000} s for each system at 1 and at 32 cycles in flight. Ratios are to Countersign on the same database.`,
    '',
    ...speedTable(ran),
    '',
    ...NOTES,
    '',
    'What the probes saw:',
    '',
    ...sentencesOf(ran),
    '',
    ...(missing.length > 0 ? ['Did not run:', '', ...missing.map((row) => `- **${nameOf(row)}**: ${row.notRun}`), ''] : []),
    ...(versions === '' ? [] : [`Packages: ${versions}.`, '']),
  ].join('\n')
}
