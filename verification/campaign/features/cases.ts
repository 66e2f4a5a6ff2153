import type { ActionRow, VoteRow } from '../../../packages/server/src/store/index.ts'
import type { Journal } from './journal.ts'
import type { Kind } from './kinds.ts'
import { whatOf } from './people.ts'
import type { PlannedCall } from './plan.ts'
import type { DeedRow, FeatureRows } from './rows.ts'
import { type How, howOfCall, type TargetEntry } from './targets-file.ts'

/** One action with everything that was said about it on any side. */
export interface Case {
  row: ActionRow
  what: string
  kind: Kind
  how: How
  votes: VoteRow[]
  deeds: DeedRow[]
  requests: TargetEntry[]
  effects: TargetEntry[]
  entries: TargetEntry[]
}

/** Everything known about a world at one moment. */
export interface Evidence {
  rows: FeatureRows
  entries: readonly TargetEntry[]
  journal: Journal
  /** The folder that the workspace tools change. */
  workFolder: string
  planOf(what: string): PlannedCall | undefined
}

/** The actions that calls of the campaign made. */
export function gatherCases({ rows, entries, planOf }: Evidence): Case[] {
  const byWhat = Map.groupBy(entries, ({ what }) => what)
  const cast = Map.groupBy(rows.votes, ({ action_id }) => action_id)
  const done = Map.groupBy(rows.deeds, ({ action_id }) => action_id)
  return rows.actions.flatMap((row) => {
    const what = whatOf(row.arguments)
    const planned = planOf(what)
    if (!planned) return []
    const mine = byWhat.get(what) ?? []
    return [
      {
        ...{ row, what, kind: planned.kind, how: howOfCall(what), entries: mine },
        votes: (cast.get(row.id) ?? []).filter(({ revision }) => revision === row.revision),
        deeds: done.get(row.id) ?? [],
        requests: mine.filter(({ kind }) => kind === 'request'),
        effects: mine.filter(({ kind }) => kind === 'effect'),
      },
    ]
  })
}

export const said =
  ({ row, what, kind }: Case) =>
  (problem: string) =>
    `${kind} ${what} (${row.id}, ${row.tool}, ${row.state}, revision ${row.revision}): ${problem}`
