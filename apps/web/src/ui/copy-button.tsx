import { useState } from 'react'
import { Button } from './button.tsx'

/** Copies a text and reports whether that succeeded. @param what Names it for screen readers, where several can be copied. */
export function CopyButton({ text, what }: { text: string; what?: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('The browser does not allow copying here')
    }
  }
  return (
    <Button onClick={copy}>
      <span role="status">{said || 'Copy'}</span>
      {what && <span className="visually-hidden"> {what}</span>}
    </Button>
  )
}
