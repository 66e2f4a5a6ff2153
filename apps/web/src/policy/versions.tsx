import type { PolicyVersion } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { RawJson } from '../chat/raw-json.tsx'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { fullTime } from '../time/relative.ts'
import { handleSubmit, textOf } from '../ui/form.ts'
import { Button, Failure, Loaded, More, useList } from '../ui/index.ts'

/** Lists all versions with author, reason and diff. Each can be restored. */
export function Versions({ canRollBack }: { canRollBack: boolean }) {
  const { client } = useServices()
  const versions = useList(['policy', 'versions'], (cursor, signal) => client.policy.versions({ cursor }, { signal }))
  return (
    <section aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      <Loaded of={versions} height={200}>
        {(items) => (
          <ul className="rows">
            {items.map((version) => (
              <VersionRow key={version.version} version={version} canRollBack={canRollBack && version.inUse !== 'force'} />
            ))}
          </ul>
        )}
      </Loaded>
      <More of={versions} />
    </section>
  )
}

const IN_USE = { force: 'In force', shadow: 'Tried beside' } as const

function VersionRow({ version: held, canRollBack }: { version: PolicyVersion; canRollBack: boolean }) {
  const [open, setOpen] = useState(false)
  const { version, inUse, author, reason, createdAt } = held
  return (
    <li className="row-card" data-testid="policy-version">
      <div className="row-head">
        <strong>Version {version}</strong>
        <span>
          {author ? showInvisible(author.name) : 'Configuration'}{' '}
          <time className="muted" dateTime={createdAt}>
            {fullTime(createdAt)}
          </time>
        </span>
        {inUse && <span className="badge-text">{IN_USE[inUse]}</span>}
      </div>
      {reason !== '' && <p>{showInvisible(reason)}</p>}
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>What it changed</summary>
        {open && <VersionDetails version={version} canRollBack={canRollBack} />}
      </details>
    </li>
  )
}

function VersionDetails({ version, canRollBack }: { version: number; canRollBack: boolean }) {
  const { client } = useServices()
  const whole = useQuery({ queryKey: ['policy', 'version', version], queryFn: ({ signal }) => client.policy.version(version, { signal }) })
  return (
    <Loaded of={whole} height={80}>
      {({ changes, document }) => (
        <>
          {changes.length === 0 ? (
            <p className="muted">Nothing against the version before it.</p>
          ) : (
            <ul>
              {changes.map(({ kind, rule, text }) => (
                <li key={`${kind} ${rule} ${text}`}>{showInvisible(text)}</li>
              ))}
            </ul>
          )}
          <details>
            <summary>The whole document</summary>
            <RawJson label={`Version ${version}`} value={document} />
          </details>
          {canRollBack && <RollBack version={version} />}
        </>
      )}
    </Loaded>
  )
}

function RollBack({ version }: { version: number }) {
  const { client } = useServices()
  const online = useOnline()
  const queries = useQueryClient()
  const rollBack = useMutation({
    mutationFn: (reason: string) => client.policy.rollback({ version, reason }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['policy'] }),
  })
  const submit = handleSubmit((data) => rollBack.mutate(textOf(data, 'reason')))
  return (
    <form className="filters" onSubmit={submit}>
      <label>
        Why go back to version {version}?
        <input name="reason" required maxLength={2_000} />
      </label>
      <Button type="submit" variant="outlined" disabled={!online || rollBack.isPending}>
        Roll back to version {version}
      </Button>
      <Failure of={rollBack.error} isWide />
    </form>
  )
}
