import { showInvisible } from '@countersign/react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useServices } from '../services.tsx'
import { Button, Notice } from '../ui/index.ts'
import { type Verdict, verifyExport } from './verify-export.ts'

/** Checks the whole record with the browser: it reads the export and recomputes every hash and signature. */
export function VerifySection() {
  const { client } = useServices()
  const [rows, setRows] = useState(0)
  const checking = useMutation({
    mutationFn: async () => {
      setRows(0)
      // Browsers have it on https and on localhost only.
      if (!('subtle' in crypto))
        throw new Error('This browser can check signatures only over https. Export the record and use the command below.')
      const { publicKey } = await client.audit.key()
      const response = await client.open('/api/audit/export?format=jsonl', { headers: { accept: '*/*' } })
      return verifyExport(new Uint8Array(await response.arrayBuffer()), publicKey, setRows)
    },
  })
  return (
    <section aria-labelledby="verify" data-testid="verify">
      <h2 id="verify">Check</h2>
      <p>
        Recomputes every hash and every signature in this browser. The page comes from the same server: to trust neither, export the record
        and check it elsewhere, with a head that you keep.
      </p>
      <p>
        <Button variant="outlined" disabled={checking.isPending} onClick={() => checking.mutate()}>
          {checking.isPending ? 'Checking…' : 'Verify in this browser'}
        </Button>
      </p>
      <div role="status">
        {checking.isPending && `${rows.toLocaleString('en')} rows so far`}
        {checking.data && <Result verdict={checking.data} />}
      </div>
      {checking.isError && (
        <div role="alert">
          <Notice tone="error">{showInvisible(checking.error.message)}</Notice>
        </div>
      )}
    </section>
  )
}

function Result({ verdict: { problem, rows, heads, redacted, gaps, otherKeys } }: { verdict: Verdict }) {
  if (problem !== undefined) {
    return (
      <Notice tone="error" testId="verify-problem">
        The record is not as it was signed. {showInvisible(problem)}
      </Notice>
    )
  }
  if (otherKeys.length > 0) {
    return (
      <Notice tone="warning" testId="verify-keys">
        Every head fits its signature, but the record is signed with {otherKeys.length + 1} keys. What a key other than this server’s signed
        is not proven. Compare {otherKeys.length === 1 ? 'it' : 'them'} with the earlier keys that you noted down: {otherKeys.join(', ')}
      </Notice>
    )
  }
  return (
    <Notice testId="verify-passed">
      {rows.toLocaleString('en')} rows under {heads.toLocaleString('en')} signed heads are as they were signed
      {redacted > 0 && `; the data of ${redacted.toLocaleString('en')} was redacted, and the record says so`}
      {gaps > 0 && `; ${gaps} ${gaps === 1 ? 'gap was' : 'gaps were'} accepted by people`}.
    </Notice>
  )
}
