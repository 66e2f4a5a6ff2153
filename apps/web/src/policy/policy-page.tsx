import type { PolicyView } from '@countersign/client'
import { showInvisible, showLines } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress } from '../shell/use-address.ts'
import { fullTime } from '../time/relative.ts'
import { Button, Loaded } from '../ui/index.ts'
import '../ui/pages.css'
import { type Edited, editOf, keepEdit, keptEdit } from './kept-edit.ts'
import { PolicyEditor } from './policy-editor.tsx'
import { PolicyPanels } from './policy-panels.tsx'
import { withAllowRule } from './propose-rule.ts'
import { RuleList } from './rule-list.tsx'
import { ShadowSection } from './shadow-section.tsx'
import { Versions } from './versions.tsx'

/**
 * Returns the edit that the address asks for: `change` opens a rule in the form, `allow` adds the rule that the dashboard proposes for a tool.
 * The edit is not in force until an admin saves it with a reason.
 */
function openedBy(params: URLSearchParams, { view: base, text: baseText }: { view: PolicyView; text: string }) {
  const [tool, rule] = [params.get('allow'), params.get('change')]
  if (tool) return { edited: editOf(withAllowRule(baseText, tool), base, baseText), rule: null }
  const isThere = base.document.rules.some(({ name }) => name === rule)
  return isThere ? { edited: editOf(baseText, base, baseText), rule } : undefined
}

/** `/policy`: shows and tests the policy. Admins can change it. */
export default function PolicyPage() {
  const { client, me } = useServices()
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
  const isAdmin = me.roles.includes('admin')
  const { params, set } = useAddress()
  const proposed = params.get('allow')
  const [typed, setTyped] = useState(() => keptEdit(proposed))
  const setEdited = (next: Edited | undefined) => {
    keepEdit(next, proposed)
    setTyped(next)
  }
  const opened = isAdmin && policy.data ? openedBy(params, policy.data) : undefined
  const edited = typed ?? opened?.edited
  const first = opened?.rule ?? null
  const close = () => {
    setEdited(undefined)
    for (const name of ['allow', 'change']) if (params.has(name)) set(name, '')
  }
  return (
    <Page title="Policy" subtitle={policy.data && `Version ${policy.data.view.version}`}>
      <div className="stack wide">
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
                  // Of the address: the rule may be gone from a version that somebody else saves meanwhile.
                  key={params.get('change')}
                  edited={edited}
                  first={first}
                  onEdit={(changed) => setEdited({ ...edited, ...changed })}
                  current={{ view, text }}
                  onRebase={() => setEdited({ ...edited, base: view, baseText: text })}
                  onClose={close}
                />
              ) : (
                <div className="policy-columns">
                  <div className="stack">
                    {isAdmin && (
                      <p>
                        <Button variant="contained" onClick={() => setEdited(editOf(text, view, text))}>
                          Edit
                        </Button>
                      </p>
                    )}
                    <RuleList view={view} onChange={isAdmin ? (name) => set('change', name) : undefined} />
                    <details className="panel">
                      <summary>As YAML</summary>
                      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
                      <pre className="raw" tabIndex={0} data-testid="policy-text">
                        {showLines(text)}
                      </pre>
                    </details>
                  </div>
                  <PolicyPanels document={undefined}>
                    {view.shadow && (
                      <ShadowSection
                        shadow={view.shadow}
                        inForce={view.version}
                        onCompare={(tried) => setEdited(editOf(tried, view, text))}
                      />
                    )}
                  </PolicyPanels>
                  <Versions canRollBack={isAdmin} />
                </div>
              )}
              {edited && view.shadow && <ShadowSection shadow={view.shadow} inForce={view.version} />}
              {edited && <Versions canRollBack={isAdmin} />}
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}
