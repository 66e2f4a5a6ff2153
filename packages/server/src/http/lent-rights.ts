import type { Principal } from '@countersign/core'
import type { Clock } from '../clock.ts'
import type { EventHub } from '../dispatch/index.ts'
import { delegations, mapInTurn, participants, principals, type Tx } from '../store/index.ts'
import type { LogReader } from './log-reader.ts'

/** Clocks differ a little: a delegation that is still in force at its end is looked at again after this long. */
const LOOK_AGAIN_MS = 50

export interface LentRightsOptions {
  store: LogReader
  hub: Pick<EventHub, 'onAccess'>
  clock: Clock
  principal: Principal
}

/** The rights by which a person sees actions beside those of their own roles. */
export interface LentRights {
  /** Calls `changed` after each change since the rights were opened, and where they cannot be read. Returns the function that ends it. */
  follow(changed: () => void): () => void
}

/** Returns the rights that others lend a person: delegations to them, also until these expire, and invitations. Others are lent none. */
export async function openLentRights({ store, hub, clock, principal }: LentRightsOptions): Promise<LentRights> {
  if (principal.kind !== 'person') return { follow: () => () => undefined }
  const read = () => store.read(() => lentTo(principal.id, clock.nowMs()), `lent to ${principal.id}`)
  let lent = await read()
  return {
    follow(changed) {
      let isOver = false
      let stopWaiting: (() => void) | undefined
      let looked = Promise.resolve()
      const lookNow = async (): Promise<void> => {
        if (isOver) return
        const before = lent
        lent = await read()
        if (isOver) return
        stopWaiting?.()
        const { endsAt } = lent
        stopWaiting = endsAt === undefined ? undefined : clock.after(Math.max(endsAt - clock.nowMs(), LOOK_AGAIN_MS), look)
        if (lent.shows !== before.shows) changed()
      }
      // One after the other, so that each change is told of once.
      const look = (): void => {
        looked = looked.then(lookNow).catch(changed)
      }
      const stopListening = hub.onAccess(principal.id, look)
      // Something may have changed before it listened.
      look()
      return () => {
        isOver = true
        stopWaiting?.()
        stopListening()
      }
    },
  }
}

/** `endsAt` is when the first of them ends by itself. */
function* lentTo(id: string, nowMs: number): Tx<{ shows: string; endsAt: number | undefined }> {
  const lenders = yield* delegations.lendersTo.all({ to_id: id, now: nowMs })
  const invited = yield* participants.invitationsOf.first({ principal_id: id })
  const ends = lenders.map(({ ends_at }) => ends_at)
  const lent = yield* mapInTurn(lenders, function* ({ from_id, first_id }) {
    const lender = yield* principals.findPrincipal.first({ id: from_id })
    return [first_id, lender?.roles]
  })
  return {
    shows: JSON.stringify([invited?.count, invited?.newest, lent]),
    endsAt: ends.length === 0 ? undefined : Math.min(...ends),
  }
}
