import type { ActionRow, EventRow, VoteRow } from '../../../packages/server/src/store/index.ts'
import type { GrantRow } from '../../../packages/server/src/store/tables/action-rows.ts'
import type { DelegationRow } from '../../../packages/server/src/store/tables/principal-rows.ts'
import type { CampaignDatabase } from '../../crash/database.ts'

/** One row of the record about an action. */
export interface DeedRow {
  id: number
  kind: string
  action_id: string | null
  at: number
  data: string | null
}

/** The rows that the checks read, directly from the database and all at one moment. */
export interface FeatureRows {
  actions: ActionRow[]
  votes: VoteRow[]
  grants: GrantRow[]
  delegations: DelegationRow[]
  deeds: DeedRow[]
  events: EventRow[]
  principals: { id: string; name: string; roles: string }[]
  objectives: { id: string; title: string }[]
  changes: { action_id: string; key_result_id: string | null; after: string; kind: string }[]
  keyResults: { id: string; objective_id: string; current_value: string; version: number }[]
  /** Edited arguments of earlier revisions. */
  revisions: { action_id: string; revision: number; arguments: string }[]
}

export const readRows = ({ view }: CampaignDatabase): Promise<FeatureRows> =>
  view(async (ask) => {
    const table = async <R>(sql: string) => (await ask(sql)) as R[]
    return {
      actions: await table('select * from action order by id'),
      votes: await table('select * from vote order by action_id, created_at'),
      grants: await table('select * from action_grant order by id'),
      delegations: await table('select * from delegation order by id'),
      deeds: await table('select id, kind, action_id, at, data from audit order by id'),
      events: await table('select * from event order by id'),
      principals: await table('select id, name, roles from principal'),
      objectives: await table('select id, title from objective'),
      changes: await table('select action_id, key_result_id, after, kind from objective_change order by at, id'),
      keyResults: await table('select id, objective_id, current_value, version from key_result'),
      revisions: await table('select action_id, revision, arguments from action_revision'),
    }
  })

/** The process number of the server that carries a call out; undefined when nobody does. */
export const findHolder = ({ view, kind }: CampaignDatabase, what: string): Promise<number | undefined> =>
  view(async (ask) => {
    if (kind === 'sqlite') return undefined
    const sql = `select process.name from action join process on process.id = action.runner
      where action.state = 'executing' and action.arguments like '%${what}%'`
    const [row] = await ask(sql)
    return row === undefined ? undefined : Number(String(row.name).split(':').at(-1))
  })
