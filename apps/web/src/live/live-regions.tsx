import type { Action, Actions } from '@countersign/client'
import { CardAnnouncer } from '@countersign/react'
import { useCallback, useRef } from 'react'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { useServices } from '../services.tsx'
import { changedSpan } from '../steady/changed-span.ts'
import { mayDecide } from '../waiting/is-mine.ts'
import { useStandsFor } from './use-stands-for.ts'
import { useWaiting } from './use-waiting.ts'

const NONE: readonly Action[] = []

/**
 * The one polite and the one assertive live region of the console. They announce new approvals and the outcomes of those that appeared
 * while this page was open, never the history of a session.
 */
export function LiveRegions({ open }: { open: Actions }) {
  const { items, loaded } = useWaiting()
  const { me } = useServices()
  const standsFor = useStandsFor()
  const [shortcuts] = useShortcuts()
  const hasKeys = useCallback((action: Action) => shortcuts && mayDecide(action, { me, standsFor }), [shortcuts, me, standsFor])
  const seen = useRef({ ids: new Set<string>(), items: NONE })
  for (const { id } of changedSpan(seen.current.items, items).now) seen.current.ids.add(id)
  seen.current.items = items
  const followed = Object.values(open).filter(({ id }) => seen.current.ids.has(id) && items.every((action) => action.id !== id))
  return (
    <div className="visually-hidden" data-testid="live-regions">
      <CardAnnouncer actions={followed.length === 0 ? items : [...items, ...followed]} loaded={loaded} hasKeys={hasKeys} />
    </div>
  )
}
