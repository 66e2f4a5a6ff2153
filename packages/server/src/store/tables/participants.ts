import { lit, question } from '../query.ts'
import type { PrincipalRow } from './principal-rows.ts'
import type { Schema } from './schema.ts'
import type { ParticipantRow } from './session-rows.ts'

/** Invites a person to write in a session. No row changes when they were invited already. */
export const insertParticipant = question<{ [K in keyof ParticipantRow]: ParticipantRow[K] }>((db, p) =>
  db
    .insertInto('session_participant')
    .values({
      session_id: p.session_id,
      principal_id: p.principal_id,
      invited_by: p.invited_by,
      created_at: p.created_at,
    } satisfies Schema['session_participant'])
    .onConflict((conflict) => conflict.doNothing()),
)

/** Ends an invitation. No row changes when it does not exist. */
export const deleteParticipant = question<{ session_id: string; principal_id: string }>((db, p) =>
  db.deleteFrom('session_participant').where('session_id', '=', p.session_id).where('principal_id', '=', p.principal_id),
)

export const findParticipant = question<{ session_id: string; principal_id: string }, ParticipantRow>((db, p) =>
  db.selectFrom('session_participant').selectAll().where('session_id', '=', p.session_id).where('principal_id', '=', p.principal_id),
)

/** How many sessions a person is invited to, and when the newest invitation was made. */
export const invitationsOf = question<{ principal_id: string }, { count: number | string; newest: number | null }>((db, p) =>
  db
    .selectFrom('session_participant')
    .select(({ fn }) => [fn.countAll<number | string>().as('count'), fn.max('created_at').as('newest')])
    .where('principal_id', '=', p.principal_id),
)

/** The people who are invited to a session, the first one first. */
export const participantsOf = question<{ session_id: string }, Pick<PrincipalRow, 'id' | 'name'>>((db, p) =>
  db
    .selectFrom('session_participant')
    .innerJoin('principal', 'principal.id', 'session_participant.principal_id')
    .select(['principal.id', 'principal.name'])
    .where('session_participant.session_id', '=', p.session_id)
    .orderBy('session_participant.created_at')
    .orderBy('principal.id')
    .limit(lit(1_000)),
)
