import type { Action } from '@countersign/client'
import { useState } from 'react'
import { JsonText } from './json-text.tsx'

/** Everything that would be sent, as it is: what the digest covers. Open by itself where nothing else on the card shows the values. */
export function RawArguments({ action }: { action: Action }) {
  const needed = action.preview === null || action.preview.length === 0
  const [chosen, setChosen] = useState<boolean>()
  const open = chosen ?? needed
  const [copied, setCopied] = useState('')
  const count = Object.keys(action.arguments).length
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(JSON.stringify(action.arguments, null, 2))
      setCopied('Copied')
    } catch {
      setCopied('The browser does not allow copying here')
    }
  }
  return (
    <details className="cs-raw" open={open} onToggle={({ currentTarget }) => currentTarget.open !== open && setChosen(currentTarget.open)}>
      <summary>
        Raw arguments <span className="cs-note">{count === 1 ? '1 argument' : `${count} arguments`}</span>{' '}
        <code title={action.digest}>{action.digest.replace(/^sha256:/, '').slice(0, 12)}</code>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <JsonText value={action.arguments} path="arguments" />
      </pre>
      <button type="button" className="cs-button cs-small" onClick={copy}>
        Copy JSON
      </button>{' '}
      <span role="status">{copied}</span>
    </details>
  )
}
