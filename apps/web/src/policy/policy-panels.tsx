import type { ReactNode } from 'react'
import { CallTest } from './call-test.tsx'
import { Replay } from './replay.tsx'

/**
 * Replays past calls and tries one, with an edited text or, without one, with the version in force. On a wide screen the panels stand beside
 * the rules.
 */
export function PolicyPanels({ document, children }: { document: string | undefined; children?: ReactNode }) {
  return (
    <div className="policy-panels">
      {children}
      <Replay document={document} />
      <CallTest document={document} />
    </div>
  )
}
