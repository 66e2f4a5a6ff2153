import { type ComponentType, lazy, useState } from 'react'
import { Boundary } from '../shell/boundary.tsx'
import type { PaneProps } from './pane.tsx'

/** From here on the card stands beside the list. */
export const WIDE = '(min-width: 900px)'

let loaded: ComponentType<PaneProps> | undefined

async function load(): Promise<{ default: ComponentType<PaneProps> }> {
  const pane = await import('./pane.tsx')
  loaded = pane.default
  return pane
}

const Later = lazy(load)
// A phone opens cards on a page of their own. Elsewhere the code comes beside the rows; if it does not, that is said where it is drawn.
if (window.matchMedia(WIDE).matches) load().catch(() => undefined)

/** The pane while nothing can be drawn in it. */
export const EmptyPane = () => <section className="inbox-pane" aria-label="Selected action" aria-busy="true" />

/** The card of the selected row. */
export function LazyPane(props: PaneProps) {
  // `lazy` shows its fallback once even if the code is loaded.
  const [Pane] = useState(() => loaded ?? Later)
  return (
    <Boundary fallback={<EmptyPane />}>
      <Pane {...props} />
    </Boundary>
  )
}
