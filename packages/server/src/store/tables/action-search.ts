import { makeId } from '@countersign/core'
import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** The search terms of people in a list of actions. An action has to match all of them. */
export interface ActionSearch {
  /** The verdict of the policy. */
  verdict?: 'allow' | 'ask' | 'deny' | undefined
  /** Part of the tool's name. */
  toolText?: string | undefined
  /** Part of the agent's name. */
  agentText?: string | undefined
  /** Part of the name of somebody who asked for it. */
  requester?: string | undefined
  /** Id of somebody who asked for it; of a person, also through their agents. */
  requesterId?: string | undefined
  /** Each is in the title or the arguments. */
  words?: readonly string[] | undefined
  /** Part of the name of somebody who voted on it. */
  decider?: string | undefined
  /** Name of the rule that the policy decided by. */
  rule?: string | undefined
  destination?: string | undefined
  /** Proposed at this time or later, in epoch ms. */
  createdAfter?: number | undefined
  /** Proposed before this time, in epoch ms. */
  createdBefore?: number | undefined
  /** Settled at this time or later, in epoch ms. */
  settledAfter?: number | undefined
  /** Settled before this time, in epoch ms. */
  settledBefore?: number | undefined
}

/**
 * The lowest id that an action of this millisecond could have: ids are in the order of their times. No action is older than 1970, when the
 * times of ids begin, and none is later than 3084, when they end.
 */
export const lowestIdAt = (ms: number): string => makeId('act', Math.min(Math.max(ms, 0), 2 ** 45 - 1), new Uint8Array(16))

/** The conditions of a search, on the table `action`. */
export function searchConditions(search: ActionSearch, dialect: Dialect): RawBuilder<boolean>[] {
  const {
    verdict,
    words = [],
    toolText,
    agentText,
    requester,
    requesterId,
    decider,
    rule,
    destination,
    createdAfter,
    createdBefore,
    settledAfter,
    settledBefore,
  } = search
  const conditions: RawBuilder<boolean>[] = []
  if (verdict !== undefined) conditions.push(sql`action.policy like ${`%"verdict":"${verdict}"%`}`)
  if (toolText !== undefined) conditions.push(dialect.hasText('action.tool', toolText))
  if (agentText !== undefined) conditions.push(dialect.hasText('action.agent', agentText))
  for (const word of words) conditions.push(hasWord(word, dialect))
  if (requester !== undefined) conditions.push(isAskedBy(dialect.hasText('named.name', requester)))
  if (requesterId !== undefined) conditions.push(isAskedBy(sql`(named.id = ${requesterId} or named.person_id = ${requesterId})`))
  if (decider !== undefined) conditions.push(isDecidedByName(decider, dialect))
  if (rule !== undefined) conditions.push(sql`${dialect.jsonText('action.policy', 'rule')} = ${JSON.stringify(rule)}`)
  if (destination !== undefined) conditions.push(sql`action.destination = ${destination}`)
  // The id bounds what is read, by the primary key.
  if (createdAfter !== undefined) conditions.push(sql`action.id >= ${lowestIdAt(createdAfter)} and action.created_at >= ${createdAfter}`)
  if (createdBefore !== undefined) conditions.push(sql`action.created_at < ${createdBefore}`)
  // `coalesce` keeps these from the index of their times: where it serves, `bySettled` says so; elsewhere the order of the ids does.
  if (settledAfter !== undefined) conditions.push(sql`coalesce(action.settled_at, -1) >= ${settledAfter}`)
  if (settledBefore !== undefined)
    conditions.push(sql`action.settled_at is not null and coalesce(action.settled_at, -1) < ${settledBefore}`)
  return conditions
}

/** True when the text is in the title or the arguments: as it is, or as JSON has it, with a backslash before quotes and backslashes. */
export function hasWord(text: string, dialect: Dialect): RawBuilder<boolean> {
  const inArguments = [...new Set([text, JSON.stringify(text).slice(1, -1)])].map((written) => dialect.hasText('action.arguments', written))
  return sql`(${dialect.hasText('action.description', text)} or ${sql.join(inArguments, sql` or `)})`
}

/** The ids of the actions that were settled in the time of a search, from the index of these times. */
export const idsSettledIn = ({ settledAfter = 0, settledBefore = Number.MAX_SAFE_INTEGER }: ActionSearch): RawBuilder<{ id: string }> =>
  sql`select settled.id from action as settled where settled.settled_at >= ${settledAfter} and settled.settled_at < ${settledBefore}`

/** True when the action was proposed for a principal of whom the condition holds, or their words led to it. */
const isAskedBy = (named: RawBuilder<boolean>): RawBuilder<boolean> =>
  sql`exists (
    select 1 from principal as named
    where ${named}
      and (named.id = action.requested_by or replace(action.requesters, '"' || named.id || '"', '') <> action.requesters)
  )`

/** True when somebody of this name voted on the action, or somebody voted in their place. */
const isDecidedByName = (name: string, dialect: Dialect): RawBuilder<boolean> =>
  sql`exists (
    select 1 from vote join principal as voter on voter.id in (vote.principal_id, vote.for_id)
    where vote.action_id = action.id and ${dialect.hasText('voter.name', name)}
  )`
