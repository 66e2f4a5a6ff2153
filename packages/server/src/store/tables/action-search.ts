import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** What people look for in a list of actions; an action has to match all of it. */
export interface ActionSearch {
  /** What the policy said of it. */
  verdict?: 'allow' | 'ask' | 'deny' | undefined
  /** Part of the tool's name. */
  toolText?: string | undefined
  /** Part of the agent's name. */
  agentText?: string | undefined
  /** Part of the name of somebody who asked for it. */
  requester?: string | undefined
  /** Proposed before this time, in epoch ms. */
  createdBefore?: number | undefined
}

/** The conditions of a search, on the table `action`. */
export function searchConditions(search: ActionSearch, dialect: Dialect): RawBuilder<boolean>[] {
  const { verdict, toolText, agentText, requester, createdBefore } = search
  const conditions: RawBuilder<boolean>[] = []
  if (verdict !== undefined) conditions.push(sql`action.policy like ${`%"verdict":"${verdict}"%`}`)
  if (toolText !== undefined) conditions.push(dialect.hasText('action.tool', toolText))
  if (agentText !== undefined) conditions.push(dialect.hasText('action.agent', agentText))
  if (requester !== undefined) conditions.push(isAskedByName(requester, dialect))
  if (createdBefore !== undefined) conditions.push(sql`action.created_at < ${createdBefore}`)
  return conditions
}

/** True when the action was proposed for somebody of this name, or their words led to it. */
const isAskedByName = (name: string, dialect: Dialect): RawBuilder<boolean> =>
  sql`exists (
    select 1 from principal as named
    where ${dialect.hasText('named.name', name)}
      and (named.id = action.requested_by or replace(action.requesters, '"' || named.id || '"', '') <> action.requesters)
  )`
