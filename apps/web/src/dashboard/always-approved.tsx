import type { Stats } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { allowRule } from '../policy/propose-rule.ts'
import { useServices } from '../services.tsx'
import { CopyButton } from '../ui/index.ts'

/** Tools that people always approve: each with the rule that would allow it, for somebody to look at first. */
export function AlwaysApproved({ tools }: { tools: Stats['actions']['alwaysApproved'] }) {
  const { me } = useServices()
  return (
    <section className="figure" aria-labelledby="always-title" data-testid="always-approved">
      <h2 id="always-title">Always approved</h2>
      {tools.length === 0 ? (
        <p className="muted">No tool was approved ten times without a change or a decline</p>
      ) : (
        <>
          <p className="muted">
            A rule could allow these. Narrow it before you save it: it holds for every call that no other rule asks about or denies.
          </p>
          <ul className="rows">
            {tools.map(({ tool, approved }) => (
              <li key={tool} className="row-head">
                <span>
                  <code>{showInvisible(tool)}</code>, approved {approved} of {approved} times
                </span>
                {me.roles.includes('admin') ? (
                  <Link to={`/policy?${new URLSearchParams({ allow: tool })}`}>
                    Review a rule<span className="visually-hidden"> for {showInvisible(tool)}</span>
                  </Link>
                ) : (
                  <CopyButton text={allowRule(tool)} what={`a rule for ${showInvisible(tool)}`} />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
