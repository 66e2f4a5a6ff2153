import type { Action, EventDataOf } from '@countersign/core'
import type { ReadEvent } from '../../testing/event-reader.ts'
import type { FeatureRows } from './rows.ts'

/** Checks that a reader of the inbox, across all the deaths, gets each action once and each move in order, and knows its state (I7). */
export function checkInbox(told: readonly ReadEvent[], { actions }: FeatureRows): string[] {
  const problems = told.flatMap(({ id, type }, i) => {
    const before = told[i - 1]?.id ?? 0
    if (type === 'reset') return [`a reader of the inbox was reset at ${id}`]
    return Number(id) > before ? [] : [`a reader of the inbox was sent ${id} behind ${before}`]
  })
  const times = new Map<string, number>()
  const last = new Map<string, { state: string; revision: number }>()
  for (const { type, data } of told) {
    if (type === 'action_proposed') {
      const { proposal } = data as { proposal: Action }
      times.set(proposal.id, (times.get(proposal.id) ?? 0) + 1)
      last.set(proposal.id, proposal)
    } else if (type === 'action_update') {
      const { proposalId, state, revision } = data as EventDataOf<'action_update'>
      last.set(proposalId, { state, revision: revision ?? last.get(proposalId)?.revision ?? 1 })
    }
  }
  for (const { id, state, revision } of actions) {
    const count = times.get(id) ?? 0
    if (count !== 1) problems.push(`a reader of the inbox was told ${count} times of ${id}`)
    const known = last.get(id)
    if (known && (known.state !== state || known.revision !== revision)) {
      problems.push(`a reader of the inbox knows ${id} as ${known.state} (revision ${known.revision}), its row says ${state} (${revision})`)
    }
  }
  return problems
}
