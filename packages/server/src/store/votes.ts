import { sql } from 'kysely'
import { lit, question } from './query.ts'
import type { PrincipalRow, VoteRow } from './schema.ts'

/** Takes a person's vote for a revision, or lets it take the place of the one they gave before. */
export const castVote = question<{ [K in keyof VoteRow]: VoteRow[K] }>((db, p) =>
  db
    .insertInto('vote')
    .values({
      action_id: p.action_id,
      revision: p.revision,
      principal_id: p.principal_id,
      for_id: p.for_id,
      verdict: p.verdict,
      reason: p.reason,
      created_at: p.created_at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['action_id', 'revision', 'principal_id'])
        .doUpdateSet({ for_id: p.for_id, verdict: p.verdict, reason: p.reason, created_at: p.created_at }),
    ),
)

/** The votes of one revision, the earliest first. */
export const votesOf = question<{ action_id: string; revision: number }, VoteRow>((db, p) =>
  db
    .selectFrom('vote')
    .selectAll()
    .where('action_id', '=', p.action_id)
    .where('revision', '=', p.revision)
    .orderBy('created_at')
    .orderBy('principal_id')
    .limit(lit(1_000)),
)

/** A vote, and the person by whose right it was cast as they are now. */
export type HeldVote = VoteRow & { holder_kind: PrincipalRow['kind']; holder_roles: string }

/** The same votes with the persons by whose right they were cast: who counts them asks for nobody one by one. */
export const votesWithHolders = question<{ action_id: string; revision: number }, HeldVote>((db, p) =>
  db
    .selectFrom('vote')
    .innerJoin('principal as holder', (join) => join.on('holder.id', '=', sql<string>`coalesce(vote.for_id, vote.principal_id)`))
    .selectAll('vote')
    .select(['holder.kind as holder_kind', 'holder.roles as holder_roles'])
    .where('vote.action_id', '=', p.action_id)
    .where('vote.revision', '=', p.revision)
    .orderBy('vote.created_at')
    .orderBy('vote.principal_id')
    .limit(lit(1_000)),
)
