import type { Stats } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { CopyButton } from '../ui/index.ts'

/** Tools that people always approve: each with the rule that would allow it, for somebody to look at first. */
export function AlwaysApproved({ tools }: { tools: Stats['actions']['alwaysApproved'] }) {
  return (
    <section className="figure" aria-labelledby="always-title" data-testid="always-approved">
      <h2 id="always-title">Always approved</h2>
      {tools.length === 0 ? (
        <p className="muted">No tool was approved ten times without a change or a decline</p>
      ) : (
        <>
          <p className="muted">A rule could allow these. Narrow it before you save it: it holds for every call.</p>
          <ul className="rows">
            {tools.map(({ tool, approved }) => (
              <li key={tool} className="row-head">
                <span>
                  <code>{showInvisible(tool)}</code>, approved {approved} of {approved} times
                </span>
                <CopyButton text={ruleFor(tool)} what={`a rule for ${showInvisible(tool)}`} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** The rule as a line of YAML; JSON quotes are YAML's, too. */
const ruleFor = (tool: string): string =>
  `  - { name: ${JSON.stringify(`allow ${tool}`)}, match: { tool: ${JSON.stringify(tool)} }, verdict: allow }`
