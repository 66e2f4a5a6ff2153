import type { Message } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { memo } from 'react'
import { Icon } from '../ui/index.ts'
import { RawJson } from './raw-json.tsx'

type LookUp = NonNullable<Message['lookUps']>[number]

/** The look-ups that a remote brain reports. Each is one line, which opens to its input and output. */
export function LookUpLines({ lookUps = [], lookUpsLeftOut }: Pick<Message, 'lookUps' | 'lookUpsLeftOut'>) {
  return (
    <>
      {lookUps.map((lookUp, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stored list never changes, and ids of a brain may repeat
        <LookUpLine key={place} lookUp={lookUp} />
      ))}
      {lookUpsLeftOut !== undefined && (
        <p className="muted">{lookUpsLeftOut === 1 ? '1 more look-up was not kept.' : `${lookUpsLeftOut} more look-ups were not kept.`}</p>
      )}
    </>
  )
}

const LookUpLine = memo(function LookUpLine({ lookUp: { name, input, output, error, cut } }: { lookUp: LookUp }) {
  return (
    <details className="tool-line" data-testid="look-up" data-tool={name}>
      <summary>
        <Icon name="chevron" size={12} />
        <span className="mono">{showInvisible(name)}</span>
        <span className="tool-outcome" data-tone={error === undefined ? undefined : 'error'}>
          <Icon name={error === undefined ? 'check' : 'alert'} size={13} />
          {error === undefined ? 'looked up' : 'look-up failed'}
        </span>
        <span className="tool-what clip">by the agent itself, not verified</span>
      </summary>
      <div className="tool-raw">
        <p>This is the agent’s own account. This server did not run it and cannot check it.</p>
        <RawJson label="Input" value={input} />
        {error !== undefined && <RawJson label="Error" value={error} />}
        {output !== undefined && <RawJson label="Output" value={output} />}
        {output === undefined && error === undefined && <p>The agent did not say what it found.</p>}
        {cut && <p>A value was too long. Only its beginning is kept.</p>}
      </div>
    </details>
  )
})
