import type { Action } from '@countersign/client'
import { lacksChanges } from '@countersign/core/text'
import { useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { EndMark } from './end-mark.tsx'
import { JsonText } from './json-text.tsx'

/** Everything that would be sent, as it is: what the digest covers. Open by itself where nothing else on the card shows the values. */
export function RawArguments({ action }: { action: Action }) {
  const needed = lacksChanges(action.preview)
  const [chosen, setChosen] = useState<boolean>()
  const open = chosen ?? needed
  const count = Object.keys(action.arguments).length
  return (
    <details className="cs-raw" open={open} onToggle={({ currentTarget }) => currentTarget.open !== open && setChosen(currentTarget.open)}>
      <summary>
        Raw arguments <span className="cs-note">{count === 1 ? '1 argument' : `${count} arguments`}</span>{' '}
        <code title={action.digest}>{action.digest.replace(/^sha256:/, '').slice(0, 12)}</code>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} data-part="arguments">
        <JsonText value={action.arguments} path="arguments" />
        <EndMark path="arguments" />
      </pre>
      <CopyButton text={() => JSON.stringify(action.arguments, null, 2)} label="Copy JSON" />
    </details>
  )
}
