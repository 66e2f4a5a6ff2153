import type { PinStore } from '@countersign/toolkit'
import type { Clock } from './clock.ts'
import { type Store, toolPins } from './store/index.ts'

/** Stores the tool definitions that sources pin, in the database. */
export const openPinStore = (store: Store, clock: Clock): PinStore => ({
  async all(group) {
    const rows = await store.read(() => toolPins.pinsOfGroup.all({ group_name: group }))
    return rows.map(({ tool, hash, definition }) => ({ tool, hash, definition }))
  },
  async keep(group, pins) {
    const known = new Set((await store.read(() => toolPins.pinsOfGroup.all({ group_name: group }))).map(({ tool }) => tool))
    const late = pins.filter(({ tool }) => !known.has(tool))
    if (late.length === 0) return
    await store.transact(function* () {
      for (const pin of late) yield* toolPins.insertPin.run({ group_name: group, ...pin, pinned_at: clock.nowMs() })
    })
  },
  async replace(group, pin) {
    await store.transact(() => toolPins.replacePin.run({ group_name: group, ...pin, pinned_at: clock.nowMs() }))
  },
})
