import { ACTION_STATES, hasEnded, type NewEvent } from '@countersign/core'
import { sql } from 'kysely'
import { lit, question, type Tx } from '../query.ts'
import type { ActionRevisionRow, ActionRow, GrantRow } from './action-rows.ts'
import { isNoSession } from './audit.ts'
import { shortText } from './event-text.ts'
import { actionOf, readEvents } from './events.ts'
import type { PolicyDifferenceRow } from './schema.ts'
import type { EventRow } from './session-rows.ts'
import { listOfStates } from './state-in.ts'

/** The effect of a redaction on a column: it keeps the value, or replaces it. `now` is the time of the redaction, `given` a value of the caller. */
type Redaction = 'keep' | '{}' | 'Redacted' | null | 'now' | 'given'

/** Every column of an action. A new column does not compile until it is named here. */
const ACTION: Readonly<Record<keyof ActionRow, Redaction>> = {
  id: 'keep',
  session_id: 'keep',
  run_id: 'keep',
  message_id: 'keep',
  tool_call_id: 'keep',
  position: 'keep',
  tool: 'keep',
  effect: 'keep',
  destination: 'keep',
  credential: 'keep',
  definition_hash: 'keep',
  arguments: '{}',
  digest: 'keep',
  revision: 'keep',
  revised: null,
  edited_by: 'keep',
  description: 'Redacted',
  preview: null,
  preview_error: null,
  previewed_at: 'keep',
  precondition: null,
  target_version: 'keep',
  risk: 'given',
  state: 'keep',
  policy: 'given',
  requires: 'keep',
  requested_by: 'keep',
  requesters: 'keep',
  agent: 'keep',
  agent_verified: 'keep',
  agent_says: null,
  context: null,
  callback: null,
  times_asked: 'keep',
  unkeyed: 'keep',
  executor: 'keep',
  attempt: 'keep',
  epoch: 'keep',
  result_delivered: 'keep',
  runner: 'keep',
  due_at: 'keep',
  resolution: null,
  cached_from: 'keep',
  reusable_until: null,
  claimed_by: 'keep',
  idempotency_key: 'keep',
  in_doubt: 'keep',
  first_send: 'keep',
  checks: 'keep',
  result: null,
  result_url: null,
  error: null,
  expires_at: 'keep',
  extended: 'keep',
  assigned: 'keep',
  remind_at: 'keep',
  escalate_at: 'keep',
  grant_id: 'keep',
  archived_at: 'keep',
  redacted_at: 'now',
  instance_epoch: 'keep',
  released_at: 'keep',
  starts_at: 'keep',
  decided_at: 'keep',
  started_at: 'keep',
  settled_at: 'keep',
  created_at: 'keep',
  updated_at: 'keep',
}

/** Every column of an earlier revision of an action. */
const REVISION: Readonly<Record<keyof ActionRevisionRow, Redaction>> = {
  action_id: 'keep',
  revision: 'keep',
  tool: 'keep',
  arguments: '{}',
  digest: 'keep',
  definition_hash: 'keep',
  destination: 'keep',
  credential: 'keep',
  precondition: null,
  description: 'Redacted',
  preview: null,
  preview_error: null,
  previewed_at: 'keep',
  risk: 'given',
  policy: 'given',
  requires: 'keep',
  revised: 'given',
  ended: 'given',
}

/** The columns that get a fixed value. */
const blanked = (columns: Readonly<Record<string, Redaction>>) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, redaction]) =>
      redaction === 'keep' || redaction === 'now' || redaction === 'given' ? [] : [[name, redaction === null ? null : lit(redaction)]],
    ),
  )

/**
 * Removes what a settled action was about. Changes nothing while the action is open, or when it was redacted before.
 * @param p `risk` and `policy` without values of the action.
 */
export const blankAction = question<{ id: string; risk: string; policy: string; now: number }>((db, p) =>
  db
    .updateTable('action')
    .set({ ...blanked(ACTION), risk: p.risk, policy: p.policy, redacted_at: p.now })
    .where('id', '=', p.id)
    .where(sql<boolean>`state in ${listOfStates(ACTION_STATES.filter(hasEnded))}`)
    .where('redacted_at', 'is', null),
)

/** Removes what an earlier revision was about. @param p `revised` and `ended` without their reasons, `risk` and `policy` without values. */
export const blankRevision = question<Pick<ActionRevisionRow, 'action_id' | 'revision' | 'revised' | 'ended' | 'risk' | 'policy'>>(
  (db, p) =>
    db
      .updateTable('action_revision')
      .set({ ...blanked(REVISION), revised: p.revised, ended: p.ended, risk: p.risk, policy: p.policy })
      .where('action_id', '=', p.action_id)
      .where('revision', '=', p.revision),
)

/**
 * Lists the verdicts of policy versions on trial about an action. The query names the numbers of all versions, because the key of the table
 * begins with the number.
 */
export const differencesOf = question<{ action_id: string }, Pick<PolicyDifferenceRow, 'shadow' | 'said'>>((db, p) =>
  db
    .selectFrom('policy_difference')
    .select(['shadow', 'said'])
    .where('shadow', 'in', (eb) => eb.selectFrom('policy_version').select('number'))
    .where('action_id', '=', p.action_id)
    .orderBy('shadow')
    .limit(lit(10_000)),
)

/** Replaces such a verdict. */
export const replaceSaid = question<Pick<PolicyDifferenceRow, 'shadow' | 'action_id' | 'said'>>((db, p) =>
  db.updateTable('policy_difference').set({ said: p.said }).where('shadow', '=', p.shadow).where('action_id', '=', p.action_id),
)

/** Grants made from an action that were not revoked, the oldest first. */
export const grantsFrom = question<{ action_id: string }, Pick<GrantRow, 'id' | 'tool'>>((db, p) =>
  db
    .selectFrom('action_grant')
    .select(['id', 'tool'])
    .where('made_from', '=', p.action_id)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .limit(lit(100_000)),
)

/** Removes the values in grants made from an action. They are revoked: without its limits, a grant in force would allow more. */
export const blankGrants = question<{ action_id: string }>((db, p) =>
  db
    .updateTable('action_grant')
    .set({
      arguments: sql`case when arguments is null then null else '{}' end`,
      condition: sql`case when condition is null then null else 'Redacted' end`,
    })
    .where('made_from', '=', p.action_id)
    .where('revoked_at', 'is not', null),
)

/**
 * Answers that are kept for as long as an action, of a time from `from` to `until`, with the text `naming` in them.
 * @param p `naming` is a pattern of LIKE.
 */
export const answersNaming = question<{ from: number; until: number; naming: string }, { scope: string; key: string; answer: string }>(
  (db, p) =>
    db
      .selectFrom('once')
      .select(['scope', 'key', 'answer'])
      .where('kept_for', '=', lit('action'))
      .where('created_at', '>=', p.from)
      .where('created_at', '<=', p.until)
      .where('answer', 'like', p.naming)
      .orderBy('scope')
      .orderBy('key')
      .limit(lit(10_000)),
)

/** Replaces an answer. */
export const replaceAnswer = question<{ scope: string; key: string; answer: string }>((db, p) =>
  db.updateTable('once').set({ answer: p.answer }).where('scope', '=', p.scope).where('key', '=', p.key),
)

const EVENTS_PAGE = 100

/** Each event about a change of an action without a session has the place right after that of its row in the record. */
const eventsAlone = question<{ action_id: string; after: number }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('id', 'in', (eb) =>
      eb.selectFrom('audit').select(sql<number>`id + 1`.as('place')).where('scope', '=', p.action_id).where(isNoSession),
    )
    .where('session_id', 'is', null)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(lit(EVENTS_PAGE)),
)

/** The events about actions of a session whose text has `naming` in it, a pattern of LIKE. */
const eventsInSession = question<{ session_id: string; naming: string; after: number }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('last_seq', '>', p.after)
    .where('inbox', '=', lit(1))
    .where('events', 'like', p.naming)
    .orderBy('last_seq')
    .limit(lit(EVENTS_PAGE)),
)

const replaceEvents = question<{ id: number; events: string }>((db, p) =>
  db.updateTable('event').set({ events: p.events }).where('id', '=', p.id),
)

/** Blanks the events about changes of an action. Each keeps its place in the log. @param blank Removes its values. */
export function* blankEvents(
  { id: actionId, session_id }: Pick<ActionRow, 'id' | 'session_id'>,
  blank: (event: NewEvent) => NewEvent,
): Tx<void> {
  // The stored text is shortened: a code may stand for `"id":"act_`. What follows the prefix of an id is always there as it is.
  const naming = `%${actionId.slice(actionId.indexOf('_') + 1)}%`
  for (let after = -1, isMore = true; isMore; ) {
    const rows: EventRow[] =
      session_id === null
        ? yield* eventsAlone.all({ action_id: actionId, after })
        : yield* eventsInSession.all({ session_id, naming, after })
    for (const row of rows) {
      const events = readEvents(row).map(({ seq, event }) => {
        const { type, data } = actionOf(event) === actionId ? blank(event) : event
        return [seq, type, data]
      })
      yield* replaceEvents.run({ id: row.id, events: shortText(JSON.stringify(events), row) })
    }
    const last = rows.at(-1)
    after = (session_id === null ? last?.id : last?.last_seq) ?? after
    isMore = rows.length === EVENTS_PAGE
  }
}
