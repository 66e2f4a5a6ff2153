import type { PolicyView } from '@countersign/client'
import { showInvisible, showLines } from '@countersign/react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress } from '../shell/use-address.ts'
import { fullTime } from '../time/relative.ts'
import { Button, Loaded } from '../ui/index.ts'
import '../ui/pages.css'
import { CallTest } from './call-test.tsx'
import { PolicyEditor } from './policy-editor.tsx'
import { withAllowRule } from './propose-rule.ts'
import { Replay } from './replay.tsx'
import { RuleList } from './rule-list.tsx'
import { ShadowSection } from './shadow-section.tsx'
import { Versions } from './versions.tsx'

/** `/policy`: shows and tests the policy. Admins can change it. */
export default function PolicyPage() {
  const { client, me } = useServices()
  const queries = useQueryClient()
  const policy = useQuery({
    queryKey: ['policy'],
    // Both reads must be of the same version. If somebody saved between them, read again.
    queryFn: async ({ signal }) => {
      for (;;) {
        const [view, text, after] = [
          await client.policy.get({ signal }),
          await client.policy.text({ signal }),
          await client.policy.get({ signal }),
        ]
        if (view.version === after.version) return { view, text }
      }
    },
  })
  const [typed, setEdited] = useState<{ text: string; base: PolicyView; baseText: string }>()
  const [firstRule, setFirstRule] = useState<string | null>(null)
  const isAdmin = me.roles.includes('admin')
  // The dashboard proposes a rule by the name of its tool. Nothing holds before an admin has seen the change, and says why.
  const { params, set } = useAddress()
  const tool = params.get('allow')
  const { view: base, text: baseText } = policy.data ?? {}
  const proposed = isAdmin && tool && base && baseText !== undefined ? { text: withAllowRule(baseText, tool), base, baseText } : undefined
  const edited = typed ?? proposed
  const close = () => {
    setEdited(undefined)
    setFirstRule(null)
    if (tool) set('allow', '')
  }
  return (
    <Page title="Policy" subtitle={policy.data && `Version ${policy.data.view.version}`}>
      <div className="stack">
        <PageBanner />
        <Loaded of={policy} height={320}>
          {({ view, text }) => (
            <>
              <p className="muted">
                Version {view.version}, {view.author ? `saved by ${showInvisible(view.author.name)}` : 'from the configuration'}{' '}
                <time dateTime={view.createdAt}>{fullTime(view.createdAt)}</time>
                {view.reason !== '' && `: “${showInvisible(view.reason)}”`}. Every rule that matches a call counts: deny wins over ask, and
                ask wins over allow.
              </p>
              {edited ? (
                <PolicyEditor
                  edited={edited}
                  first={firstRule}
                  onEdit={(changed) => setEdited({ ...edited, text: changed })}
                  current={{ view, text }}
                  onRebase={() => setEdited({ ...edited, base: view, baseText: text })}
                  onClose={close}
                  onSaved={() => {
                    close()
                    void queries.invalidateQueries({ queryKey: ['policy'] })
                  }}
                >
                  <Replay document={edited.text} isOpen={firstRule !== null} />
                  <CallTest document={edited.text} />
                </PolicyEditor>
              ) : (
                <>
                  {isAdmin && (
                    <p>
                      <Button variant="contained" onClick={() => setEdited({ text, base: view, baseText: text })}>
                        Edit
                      </Button>
                    </p>
                  )}
                  <RuleList
                    view={view}
                    onChange={
                      isAdmin
                        ? (name) => {
                            setFirstRule(name)
                            setEdited({ text, base: view, baseText: text })
                          }
                        : undefined
                    }
                  />
                  <details className="panel">
                    <summary>As YAML</summary>
                    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
                    <pre className="raw" tabIndex={0} data-testid="policy-text">
                      {showLines(text)}
                    </pre>
                  </details>
                </>
              )}
              {view.shadow && <ShadowSection shadow={view.shadow} />}
            </>
          )}
        </Loaded>
        {!edited && (
          <>
            <Replay document={undefined} />
            <CallTest document={undefined} />
          </>
        )}
        <Versions canRollBack={isAdmin} />
      </div>
    </Page>
  )
}
