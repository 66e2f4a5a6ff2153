import type { Stats } from '@countersign/client'
import { spanText } from '@countersign/react'
import { dayOf } from '../history/days.ts'
import { NO_RULE } from '../policy/no-rule.ts'
import type { Figure, FigureColumn } from './figure.ts'

const count = (name: string, tone?: FigureColumn['tone']): FigureColumn => ({ name, unit: 'count', ...(tone && { tone }) })
const tokens = (name: string, tone?: FigureColumn['tone']): FigureColumn => ({ name, unit: 'tokens', ...(tone && { tone }) })

const ANSWERS = [
  { key: 'allowed', name: 'Allowed by policy', tone: 'muted' },
  { key: 'approved', name: 'Approved', tone: 'good' },
  { key: 'declined', name: 'Declined', tone: 'bad' },
  { key: 'denied', name: 'Denied by policy', tone: 'soft' },
  { key: 'expired', name: 'Expired', tone: 'warning' },
  { key: 'cancelled', name: 'Cancelled', tone: 'faint' },
  { key: 'waiting', name: 'Waiting', tone: 'accent' },
] as const
const ANSWER_COLUMNS: FigureColumn[] = ANSWERS.map(({ name, tone }) => count(name, tone))
const answersOf = (answers: Stats['actions']['answers']): number[] => ANSWERS.map(({ key }) => answers[key])

type Bin = Stats['waitingByAge'][number]
const binName = ({ fromMs, toMs }: Bin): string => {
  if (toMs === null) return `${spanText(fromMs)} and more`
  return fromMs === 0 ? `under ${spanText(toMs)}` : `${spanText(fromMs)} to ${spanText(toMs)}`
}

const durations = (id: string, title: string, of: string, rows: Figure['rows']): Figure => ({
  ...{ id, title, of, rows, kind: 'bars', layout: 'overlay', empty: 'People decided nothing in this time' },
  columns: [{ name: 'p95', unit: 'ms', tone: 'soft' }, { name: 'p50', unit: 'ms', tone: 'accent' }, count('Decisions')],
})

/** The address of what was decided in the period or later, as what was proposed in it is: by the days of this browser. */
export const historyOf = (terms: Record<string, string>, { since }: Pick<Stats, 'since'>): string =>
  `/history?${new URLSearchParams({ ...terms, since: dayOf(new Date(since)) })}`
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`

/** The name of an hour of the series in the reader's time, or of a day. The server counts days of UTC: west of it they begin the evening before. */
const timeName = (iso: string, bucket: Stats['bucket']): string =>
  new Date(iso).toLocaleString(undefined, {
    ...{ day: 'numeric', month: 'short' },
    ...(bucket === 'hour' ? { hour: '2-digit', minute: '2-digit' } : { timeZone: 'UTC' }),
  })

/** Returns the figure of costs by model, or none if no model has a price. All prices are in one currency. */
function costsOf(models: Stats['models']): Figure[] {
  const currency = models.find(({ cost }) => cost !== null)?.cost?.currency
  if (currency === undefined) return []
  return [
    {
      ...{
        id: 'costs',
        title: 'Cost, by model',
        of: 'Model and agent',
        kind: 'bars',
        layout: 'stack',
        empty: 'No model was called in this time',
      },
      columns: [{ name: `Cost (${currency})`, unit: 'money', tone: 'accent' }],
      rows: models.map(({ model, agent, cost }) => ({ name: `${model}, ${agent}`, values: [cost?.amount ?? null] })),
    },
  ]
}

/** Every figure of the dashboard, made from the statistics of a period. */
export function figuresOf(stats: Stats): Figure[] {
  const { actions, decisions, series, bucket, waitingByAge, declineReasons, models } = stats
  const empty = 'Nothing was proposed in this time'
  return [
    {
      ...{ id: 'waiting', title: 'Waiting now, by age', of: 'Waiting for', kind: 'columns', layout: 'stack', empty: 'Nothing waits' },
      columns: [count('Actions', 'accent')],
      rows: waitingByAge.map((bin) => ({ name: binName(bin), values: [bin.count] })),
    },
    {
      ...{ id: 'time-to-decide', title: 'Time to decide', of: 'Decided in', kind: 'columns', layout: 'stack' },
      columns: [count('Decisions', 'accent')],
      rows: decisions.histogram.map((bin) => ({ name: binName(bin), values: [bin.count] })),
      empty: 'People decided nothing in this time',
    },
    durations(
      'by-tool',
      'Time to decide, by tool',
      'Tool',
      decisions.byTool.map(({ tool, p95Ms, medianMs, count: n }) => ({
        name: tool,
        href: historyOf({ q: `tool:${quoted(tool)}`, verdict: 'ask' }, stats),
        values: [p95Ms, medianMs, n],
      })),
    ),
    durations(
      'by-role',
      'Time to decide, by role',
      'Role that was asked',
      decisions.byRole.map(({ role, p95Ms, medianMs, count: n }) => ({ name: role, values: [p95Ms, medianMs, n] })),
    ),
    durations(
      'by-person',
      'Time to decide, by person',
      'Person',
      decisions.byPerson.map(({ id, name, p95Ms, medianMs, count: n }) => ({
        key: id,
        name,
        href: historyOf({ decider: name }, stats),
        values: [p95Ms, medianMs, n],
      })),
    ),
    {
      ...{ id: 'votes', title: 'Votes, by person', of: 'Person', kind: 'bars', layout: 'stack', empty: 'Nobody voted in this time' },
      columns: [count('Approved', 'good'), count('Declined', 'bad')],
      rows: decisions.byPerson.map(({ id, name, approved, declined }) => ({
        key: id,
        name,
        href: historyOf({ decider: name }, stats),
        values: [approved, declined],
      })),
    },
    {
      ...{
        id: 'volume',
        title: 'Proposals, by what became of them',
        of: bucket === 'hour' ? 'Hour' : 'Day (UTC)',
        kind: 'columns',
        layout: 'stack',
        empty,
      },
      columns: ANSWER_COLUMNS,
      rows: series
        .filter((each) => each.actions > 0)
        .map(({ at, answers }) => ({ name: timeName(at, bucket), values: answersOf(answers) })),
    },
    {
      ...{ id: 'tools', title: 'Proposals, by tool', of: 'Tool', kind: 'bars', layout: 'overlay', empty },
      columns: [count('Proposed', 'muted'), count('People asked', 'accent'), count('Approved'), count('Declined'), count('Failed')],
      rows: actions.byTool.map(({ tool, total, asked, approved, declined, failed }) => ({
        name: tool,
        href: historyOf({ q: `tool:${quoted(tool)}` }, stats),
        values: [total, asked, approved, declined, failed],
      })),
    },
    {
      ...{ id: 'rules', title: 'Proposals, by rule', of: 'Rule', kind: 'bars', layout: 'stack', empty },
      columns: ANSWER_COLUMNS,
      rows: actions.byRule.map(({ rule, ...answers }) => ({
        name: rule === 'default' ? NO_RULE : rule,
        href: historyOf({ rule }, stats),
        values: answersOf(answers),
      })),
    },
    {
      ...{
        id: 'reasons',
        title: 'Reasons for declining',
        of: 'Reason',
        kind: 'bars',
        layout: 'stack',
        empty: 'Nothing was declined in this time',
      },
      columns: [count('Votes', 'bad')],
      rows: declineReasons.map(({ reason, count: n }) => ({ name: reason ?? 'No reason given', values: [n] })),
    },
    {
      ...{
        id: 'destinations',
        title: 'Outcomes, by destination',
        of: 'Destination',
        kind: 'bars',
        layout: 'stack',
        empty: 'Nothing ran in this time',
      },
      columns: [count('Done', 'good'), count('Failed', 'bad'), count('Outcome unknown', 'warning')],
      rows: actions.byDestination.map(({ destination, succeeded, failed, unknown }) => ({
        name: destination,
        href: historyOf({ destination }, stats),
        values: [succeeded, failed, unknown],
      })),
    },
    {
      ...{
        id: 'models',
        title: 'Tokens, by model',
        of: 'Model and agent',
        kind: 'bars',
        layout: 'stack',
        empty: 'No model was called in this time',
      },
      columns: [tokens('Input', 'accent'), tokens('Input from cache', 'soft'), tokens('Output', 'good'), count('Calls'), count('Errors')],
      rows: models.map((each) => ({
        name: `${each.model}, ${each.agent}`,
        values: [each.inputTokens - each.cachedInputTokens, each.cachedInputTokens, each.outputTokens, each.calls, each.errors],
      })),
    },
    ...costsOf(models),
  ]
}
