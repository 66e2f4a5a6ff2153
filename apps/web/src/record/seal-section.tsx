import type { AuditSealView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Failure, Loaded } from '../ui/index.ts'
import { SEAL, useSeal } from './use-seal.ts'

/** The newest signed head, how far back the server remembers, and what an admin does when the record does not match. */
export function SealSection() {
  const seal = useSeal()
  return (
    <section aria-labelledby="seal">
      <h2 id="seal">Seal</h2>
      <Loaded of={seal} height={80}>
        {({ problem, head, memory, anchor }) => (
          <>
            {problem && <Problem problem={problem} />}
            {head === null ? (
              <p>No row is sealed yet.</p>
            ) : (
              <p>
                Newest head, signed {fullTime(head.at)}:{' '}
                <span className="mono">
                  {head.number}:{head.hash}
                </span>
                . Keep a copy outside this server: with it, <span className="mono">countersign audit verify FILE --anchor</span> finds rows
                that were deleted or rewritten.
              </p>
            )}
            {memory.since !== null && (
              <p>
                This server remembers what it signed since {fullTime(memory.since)}, from head {memory.from} on
                {memory.place === 'process' && ', until it is restarted'}.
              </p>
            )}
            {anchor?.failure && <p role="alert">Heads are not sent to their anchor: {showInvisible(anchor.failure)}</p>}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Problem({ problem: { why, since } }: { problem: NonNullable<AuditSealView['problem']> }) {
  const { client } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const [reason, setReason] = useState('')
  const accept = useMutation({
    mutationFn: () => client.audit.accept(reason),
    onSuccess: () => Promise.all([SEAL, ['audit']].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
  return (
    <form
      className="row-card"
      aria-label="Accept the record"
      onSubmit={(event) => {
        event.preventDefault()
        accept.mutate()
      }}
    >
      <p>
        {showInvisible(why)} Noticed {fullTime(since)}. Rows are still written, and none of them is sealed. Find the cause first: an admin
        who accepts the record as it is lets the server seal it again, and the next head says so.
      </p>
      <label>
        Reason <input value={reason} maxLength={2_000} onChange={({ target }) => setReason(target.value)} />
      </label>
      <Button type="submit" variant="outlined" disabled={!online || accept.isPending || reason.trim() === ''}>
        Accept the record as it is
      </Button>
      <Failure of={accept.error} />
    </form>
  )
}
