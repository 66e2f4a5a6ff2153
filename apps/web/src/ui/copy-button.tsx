import Button from '@mui/material/Button'
import { useState } from 'react'

/** Copies a text and reports whether that succeeded. */
export function CopyButton({ text }: { text: string }) {
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
    </Button>
  )
}
