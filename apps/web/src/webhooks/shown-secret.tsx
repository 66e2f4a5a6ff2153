import type { CreatedWebhook } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { Button, CopyButton } from '../ui/index.ts'
import { ShownOnce } from '../ui/shown-once.tsx'

/** The one time that a secret is in sight. */
export function ShownSecret({ made, onClose }: { made: CreatedWebhook; onClose: () => void }) {
  const { secret, url } = made
  return (
    <ShownOnce testId="shown-secret">
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
    </ShownOnce>
  )
}
