import type { ToolDetails } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { DiffView } from '../policy/diff-view.tsx'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Button, Notice } from '../ui/index.ts'

type Change = NonNullable<ToolDetails['change']>

/** Shows what changed in a tool since people accepted its definition. Admins can accept it. */
export function ToolChange({ tool: { name, caution = '' }, change }: { tool: ToolDetails; change: Change }) {
  const { client, me } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const isAdmin = me.roles.includes('admin')
  /** The change that the dialog is about: another one may come while it is open. */
  const [accepting, setAccepting] = useState<Change>()
  return (
    <section aria-labelledby="change-title" className="panel" data-testid="tool-change">
      <h2 id="change-title">What changed</h2>
      <Notice tone="warning">{showInvisible(caution)}.</Notice>
      {change.fields.map(({ field, oldValue, newValue, diff }) => (
        <div key={field}>
          <h3>{showInvisible(field)}</h3>
          {diff === undefined ? <DiffView before={asText(oldValue)} after={asText(newValue)} /> : <DiffView before="" after={diff} />}
        </div>
      ))}
      {isAdmin ? (
        <p>
          <Button variant="contained" disabled={!online} onClick={() => setAccepting(change)}>
            Accept the change
          </Button>
        </p>
      ) : (
        <p className="muted">An admin can accept the change here; approving a call of the tool accepts it, too.</p>
      )}
      {accepting && (
        <Confirmation
          title="Accept this change?"
          action="Accept"
          // The tools are read again after a refusal, too: the tool may have changed again, or somebody else accepted it.
          onConfirm={() => client.acceptTool(name, accepting.hash).finally(() => void queries.invalidateQueries({ queryKey: ['tools'] }))}
          onClose={() => setAccepting(undefined)}
        >
          <p>
            Policy decides about calls of <span className="mono">{showInvisible(name)}</span> again, and models are told the new definition.
            Calls that were asked about before are asked about again. The record names you.
          </p>
        </Confirmation>
      )}
    </section>
  )
}

const asText = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
