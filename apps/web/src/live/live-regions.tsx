import type { Actions } from '@countersign/client'
import { CardAnnouncer } from '@countersign/react'
import { useRef } from 'react'
import { useWaiting } from './use-waiting.ts'

/**
 * The one polite and the one assertive live region of the console. They announce new approvals and the outcomes of those that appeared
 * while this page was open, never the history of a session.
 */
export function LiveRegions({ open }: { open: Actions }) {
  const { items, loaded } = useWaiting()
  const seen = useRef(new Set<string>())
  for (const action of items) seen.current.add(action.id)
  const inInbox = new Set(items.map((action) => action.id))
  const followed = [...seen.current].flatMap((id) => (inInbox.has(id) ? [] : (open[id] ?? [])))
  // The announcer takes what it is given first as known: that must be the loaded list, not the empty one before it.
  if (!loaded) return null
  return (
    <div className="visually-hidden" data-testid="live-regions">
      <CardAnnouncer actions={[...items, ...followed]} />
    </div>
  )
}
