import type { ReactNode } from 'react'
import { CallTest } from './call-test.tsx'
import { Replay } from './replay.tsx'

/** What a text of the policy would do, and without a text what the version in force does: beside the rules on a wide screen. */
export function PolicyPanels({ document, children }: { document: string | undefined; children?: ReactNode }) {
  return (
    <div className="policy-panels">
      {children}
      <Replay document={document} />
      <CallTest document={document} />
    </div>
  )
}
