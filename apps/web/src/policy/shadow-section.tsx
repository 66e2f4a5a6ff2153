import type { PolicyVersion, ShadowReport } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Button, Failure, Loaded, Notice } from '../ui/index.ts'
import { BeforeAfter } from './before-after.tsx'

/** The verdicts of both versions about the calls for which they differ. */
function verdictsOf(counts: ShadowReport['counts']) {
  const was = { allow: 0, ask: 0, deny: 0 }
  const wouldBe = { allow: 0, ask: 0, deny: 0 }
  for (const one of counts) {
    was[one.was] += one.count
    wouldBe[one.wouldBe] += one.count
  }
  return { was, wouldBe }
}

type ShadowSectionProps = {
  shadow: PolicyVersion
  /** The version in force. */
  inForce: number
  /** Opens the text of the trial in the editor, on top of the version in force. Absent while another text is edited. */
  onCompare?: (text: string) => void
}

/** Shows the shadow version: the verdicts that differ from the active version, and the buttons to activate it or end the trial. */
export function ShadowSection({ shadow, inForce, onCompare }: ShadowSectionProps) {
  const { client, me } = useServices()
  const online = useOnline()
  const queries = useQueryClient()
  const report = useQuery({ queryKey: ['policy', 'shadow', shadow.version], queryFn: ({ signal }) => client.policy.shadow({ signal }) })
  const onSuccess = () => queries.invalidateQueries({ queryKey: ['policy'] })
  const end = useMutation({ mutationFn: () => client.policy.endShadow(), onSuccess })
  const use = useMutation({
    mutationFn: () => client.policy.rollback({ version: shadow.version, reason: `Put in force after it was tried: ${shadow.reason}` }),
    // Refused, it shows what came into force meanwhile.
    onSettled: onSuccess,
  })
  const compare = useMutation({
    mutationFn: async () => {
      const [{ document }, { stringify }] = await Promise.all([client.policy.version(shadow.version), import('yaml')])
      return stringify(document)
    },
  })
  const failure = end.error ?? use.error ?? compare.error
  const basedOn = report.data?.basedOn ?? inForce
  return (
    <section aria-labelledby="shadow-title" className="panel" data-testid="shadow">
      <h2 id="shadow-title">Trial of version {shadow.version}</h2>
      <Loaded of={report} height={80}>
        {({ evaluated, differences, counts, samples }) => (
          <>
            <p>
              It decides nothing. Of the {evaluated} calls since then that you may see, it would have decided {differences} differently
              {differences === 0 ? '.' : ':'}
            </p>
            {differences > 0 && <BeforeAfter {...verdictsOf(counts)} names={['In force', 'On trial']} />}
            <ul>
              {counts.map(({ was, wouldBe, count }) => (
                <li key={`${was} ${wouldBe}`}>
                  {count} {was === wouldBe ? `${was} with other requirements or risk` : `from ${was} to ${wouldBe}`}
                </li>
              ))}
            </ul>
            {samples.length > 0 && (
              <details>
                <summary>The newest of them</summary>
                <ul>
                  {samples.map(({ actionId, tool, was, wouldBe, rule, reason }) => (
                    <li key={actionId}>
                      <Link to={`/actions/${actionId}`}>{showInvisible(tool)}</Link>: {was}, would be {wouldBe} by “{showInvisible(rule)}”.{' '}
                      {showInvisible(reason)}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )}
      </Loaded>
      {basedOn !== inForce && (
        <Notice tone="warning">
          Version {inForce} came into force after this trial began. Activating the trial would take back what it changed.
        </Notice>
      )}
      <Failure of={failure} />
      {me.roles.includes('admin') && (
        <div className="row-head">
          <Button variant="outlined" disabled={!online || end.isPending} onClick={() => end.mutate()}>
            End the trial
          </Button>
          {basedOn === inForce && (
            <Button variant="contained" disabled={!online || use.isPending} onClick={() => use.mutate()}>
              Activate
            </Button>
          )}
          {basedOn !== inForce && onCompare && (
            <Button
              variant="contained"
              disabled={!online || compare.isPending}
              onClick={() => compare.mutate(undefined, { onSuccess: onCompare })}
            >
              Compare with version {inForce}
            </Button>
          )}
        </div>
      )}
    </section>
  )
}
