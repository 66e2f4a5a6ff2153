import type { CreatedWebhook } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useEffect, useRef } from 'react'
import { Button, CopyButton, Notice } from '../ui/index.ts'

/** The one time that a secret is in sight. */
export function ShownSecret({ made, onClose }: { made: CreatedWebhook; onClose: () => void }) {
  const { secret, url } = made
  const box = useRef<HTMLDivElement>(null)

  // The secret is shown only once, so it is scrolled into view.
  useEffect(() => {
    box.current?.focus({ preventScroll: true })
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])

  return (
    <div role="alert" ref={box} tabIndex={-1} data-testid="shown-secret">
      <Notice tone="warning">
        {secret === null ? (
          <p>There is a new secret for {showInvisible(url)}, but its answer was lost on the way. Rotate it.</p>
        ) : (
          <>
            <p>The secret of {showInvisible(url)}. It is shown this once: copy it to the receiver now.</p>
            <p className="mono" data-testid="secret-text">
              {secret}
            </p>
          </>
        )}
        <p>
          {secret !== null && <CopyButton text={secret} />} <Button onClick={onClose}>{secret === null ? 'Close' : 'I have it'}</Button>
        </p>
      </Notice>
    </div>
  )
}
