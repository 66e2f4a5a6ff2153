import { useState } from 'react'
import { CardButton } from './card-button.tsx'

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
      <CardButton className="cs-small" onClick={copy}>
        {label}
      </CardButton>{' '}
      <span role="status">{said}</span>
    </>
  )
}
