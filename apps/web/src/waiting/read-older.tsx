import { useLayoutEffect, useRef } from 'react'
import { Button } from '../ui/index.ts'
import { focusRow } from './row-list.tsx'

type ReadOlderProps = { isReading: boolean; onRead: (() => void) | undefined }

/** Reads older rows. It keeps the focus while it reads, and hands it to the selected row when nothing older is left. */
export function ReadOlder({ isReading, onRead }: ReadOlderProps) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const shown = button.current
    return () => {
      if (shown === document.activeElement) focusRow()
    }
  }, [])
  return (
    <p className="inbox-more">
      <Button ref={button} variant="outlined" aria-disabled={isReading} onClick={() => onRead?.()}>
        {isReading ? 'Reading older ones…' : 'Read older ones'}
      </Button>
    </p>
  )
}
