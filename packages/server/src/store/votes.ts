import { lit, question } from './query.ts'
import type { VoteRow } from './schema.ts'

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
