import type { ActionRevision } from '@countersign/core'
import { revisions, stored, type Tx, votes } from '../../store/index.ts'
import { isoTime, viewCast, viewPolicy, viewRevised } from './view.ts'

/** The earlier revisions of an action as they were shown, the first one first. */
export function* viewRevisions(actionId: string): Tx<ActionRevision[]> {
  const views: ActionRevision[] = []
  for (const row of yield* revisions.revisionsOf.all({ action_id: actionId })) {
    const { revision } = row
    const revised = stored.revisedOf(row)
    views.push({
      revision,
      revised: revised && (yield* viewRevised(revised)),
      arguments: stored.argumentsOf(row),
      digest: row.digest,
      destination: row.destination,
      credential: row.credential,
      precondition: row.precondition,
      description: row.description,
      preview: stored.previewOf(row),
      previewError: row.preview_error,
      previewedAt: row.previewed_at === null ? null : isoTime(row.previewed_at),
      risk: stored.riskOf(row),
      policy: viewPolicy(row),
      requires: stored.requirementsOf(row),
      votes: yield* viewCast(yield* votes.votesOf.all({ action_id: actionId, revision })),
      ended: yield* viewRevised(stored.endedOf(row)),
    })
  }
  return views
}
