import type { Action, Principal } from '@countersign/core'
import type { Clock } from '../clock.ts'
import { whyNeverDecides } from '../gate/index.ts'

/** More than all people of one process have on their screens. The oldest are forgotten: then a word waits until they are sent again. */
const MAX_KNOWN = 100_000

/** The actions that this process has sent to each person, and when it first did. */
export interface Announcements {
  /** Notes that a person was sent these actions. Nothing is noted for callers who never decide, nor about actions that do not wait. */
  note(principal: Principal, actions: readonly Pick<Action, 'id' | 'revision' | 'state'>[]): void
  /** When a person was first sent this revision, in epoch milliseconds; undefined where this process has not sent it. */
  firstSentAt(personId: string, actionId: string, revision: number): number | undefined
}

/**
 * Remembers in memory which actions were sent to whom, so that a typed word decides only about actions that its author can have read.
 * Nothing is stored, because reading changes nothing. After a restart, or in another process, an action counts from when it is sent again,
 * unless the client says what it shows.
 */
export function createAnnouncements(clock: Pick<Clock, 'nowMs'>): Announcements {
  const firstSent = new Map<string, number>()
  const keyOf = (personId: string, actionId: string, revision: number) => `${personId} ${actionId} ${revision}`
  return {
    note(principal, actions) {
      // A person's key that decides nothing may be in a program, and what a program reads nobody has seen.
      if (whyNeverDecides(principal) !== undefined) return
      for (const { id, revision, state } of actions) {
        const key = keyOf(principal.id, id, revision)
        if (state !== 'proposed' || firstSent.has(key)) continue
        firstSent.set(key, clock.nowMs())
        if (firstSent.size <= MAX_KNOWN) continue
        const [oldest] = firstSent.keys()
        if (oldest !== undefined) firstSent.delete(oldest)
      }
    },
    firstSentAt: (personId, actionId, revision) => firstSent.get(keyOf(personId, actionId, revision)),
  }
}
