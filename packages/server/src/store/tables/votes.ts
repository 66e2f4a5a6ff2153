import { sql } from 'kysely'
import { lit, question, type Tx } from '../query.ts'
import type { VoteRow } from './action-rows.ts'
import type { PrincipalRow } from './principal-rows.ts'
import type { Schema } from './schema.ts'

/** Stores a person's vote for a revision, or replaces their earlier one. */
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
      counts: p.counts,
    } satisfies Schema['vote'])
    .onConflict((conflict) =>
      conflict
        .columns(['action_id', 'revision', 'principal_id'])
        .doUpdateSet({ for_id: p.for_id, verdict: p.verdict, reason: p.reason, created_at: p.created_at, counts: p.counts }),
    ),
)

/** Notes of a vote whether it counted when its action was decided. */
export const noteCounts = question<Pick<VoteRow, 'action_id' | 'revision' | 'principal_id' | 'counts'>>((db, p) =>
  db
    .updateTable('vote')
    .set({ counts: p.counts })
    .where('action_id', '=', p.action_id)
    .where('revision', '=', p.revision)
    .where('principal_id', '=', p.principal_id),
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

/** A vote, and the current state of the person whose right it uses. */
export type HeldVote = VoteRow & {
  holder_kind: PrincipalRow['kind']
  holder_roles: string
  holder_disabled_at: number | null
  /** The persons behind `for_id` (or the voter) and `principal_id`. */
  holder_person: string | null
  voter_person: string | null
}

/** The same votes with the persons whose rights they use, so that counting them needs no further query. */
export const votesWithHolders = question<{ action_id: string; revision: number }, HeldVote>((db, p) =>
  db
    .selectFrom('vote')
    .innerJoin('principal as holder', (join) => join.on('holder.id', '=', sql<string>`coalesce(vote.for_id, vote.principal_id)`))
    .innerJoin('principal as voter', 'voter.id', 'vote.principal_id')
    .selectAll('vote')
    .select(['holder.kind as holder_kind', 'holder.roles as holder_roles', 'holder.disabled_at as holder_disabled_at'])
    .select(['holder.person_id as holder_person', 'voter.person_id as voter_person'])
    .where('vote.action_id', '=', p.action_id)
    .where('vote.revision', '=', p.revision)
    .orderBy('vote.created_at')
    .orderBy('vote.principal_id')
    .limit(lit(1_000)),
)

/** Actions in one state with a vote of a person, or of a delegate in their place, the oldest first. */
const withVoteOf = (isInState: ReturnType<typeof sql<boolean>>) =>
  question<{ person_id: string; limit: number }, { action_id: string }>((db, p) =>
    db
      .selectFrom('action')
      .innerJoin('vote', (join) => join.onRef('vote.action_id', '=', 'action.id').onRef('vote.revision', '=', 'action.revision'))
      .select('action.id as action_id')
      .distinct()
      .where(isInState)
      .where((eb) => eb.or([eb('vote.principal_id', '=', p.person_id), eb('vote.for_id', '=', p.person_id)]))
      .orderBy('action.id')
      .limit(p.limit),
  )

// Literals, so that the partial indexes of exactly these states are used.
const waitingWithVoteOf = withVoteOf(sql`action.state = 'proposed'`)
const approvedWithVoteOf = withVoteOf(sql`action.state in ('approved', 'executing') and action.state = 'approved'`)

/** Actions that wait or are approved and have not started, with a vote of a person or of a delegate in their place. */
export function* unstartedWithVoteOf(of: { person_id: string; limit: number }): Tx<{ action_id: string }[]> {
  return [...(yield* waitingWithVoteOf.all(of)), ...(yield* approvedWithVoteOf.all(of))]
}

/** Deletes the vote of a person on a revision, and votes of others in their place. */
export const voidVotes = question<{ action_id: string; revision: number; person_id: string }>((db, p) =>
  db
    .deleteFrom('vote')
    .where('action_id', '=', p.action_id)
    .where('revision', '=', p.revision)
    .where((eb) => eb.or([eb('principal_id', '=', p.person_id), eb('for_id', '=', p.person_id)])),
)
