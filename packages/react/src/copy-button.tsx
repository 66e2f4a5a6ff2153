import { useState } from 'react'

/** Copies a text as it is, and says whether that worked. */
export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      setSaid('Copied')
    } catch {
      setSaid('The browser does not allow copying here')
    }
  }
  return (
    <>
      <button type="button" className="cs-button cs-small" onClick={copy}>
        {label}
      </button>{' '}
      <span role="status">{said}</span>
    </>
  )
}
