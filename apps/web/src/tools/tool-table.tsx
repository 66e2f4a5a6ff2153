import type { ToolView } from '@countersign/client'
import { RISK_WORDS, STATE_WORDS, showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { NO_RULE } from '../policy/no-rule.ts'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { HeadRow } from '../ui/head-row.tsx'
import { VerdictMark } from '../ui/verdict.tsx'
import { toolPath } from './tool-path.ts'
import { kindWord, mayDifferText, type UsualVerdict } from './tool-words.ts'
import '../ui/table.css'

/** Tools, one in a row: its name and words, where it is from, the rule that meets its calls, and its last call. */
export function ToolTable({ tools }: { tools: readonly ToolView[] }) {
  const nowMs = useNow()
  // Only people who may read the policy are told what it says.
  const hasRules = tools.some(({ usual }) => usual !== undefined)
  return (
    <table className="wide-table tool-table" data-testid="tools">
      <caption className="visually-hidden">Tools</caption>
      <HeadRow names={['Tool', 'Source', ...(hasRules ? ['Rule'] : []), 'Last call']} />
      <tbody>
        {tools.map((tool) => (
          <ToolRow key={tool.name} tool={tool} nowMs={nowMs} hasRules={hasRules} />
        ))}
      </tbody>
    </table>
  )
}

function ToolRow({ tool, nowMs, hasRules }: { tool: ToolView; nowMs: number; hasRules: boolean }) {
  const { name, group, kind, effect, risk, description, caution, usual, lastCall } = tool
  return (
    <tr data-testid="tool" data-changed={caution !== undefined}>
      <th scope="row">
        <Link to={toolPath(name)} className="mono">
          {showInvisible(name)}
        </Link>
        {caution !== undefined && <span className="badge-text tool-changed">Changed: every call needs approval</span>}
        {description !== '' && <span className="muted tool-says">{showInvisible(description)}</span>}
      </th>
      <td className="muted">
        {showInvisible(kindWord(kind))} <span className="mono">{showInvisible(group)}</span> ·{' '}
        {effect === 'read' ? 'reads only' : 'changes data'} · {RISK_WORDS[risk.level]}
      </td>
      {hasRules && <td data-label="Rule">{usual && <Rule usual={usual} />}</td>}
      <td data-label="Last call">
        {lastCall ? (
          <>
            <span aria-hidden="true">{STATE_WORDS[lastCall.state].mark}</span>{' '}
            <Link to={`/actions/${lastCall.id}`} title={fullTime(lastCall.createdAt)}>
              <span className="visually-hidden">{STATE_WORDS[lastCall.state].word}, </span>
              {relativeTime(lastCall.createdAt, nowMs)}
            </Link>
          </>
        ) : (
          <span className="muted" title="It is not among the newest 10,000 calls">
            none lately
          </span>
        )}
      </td>
    </tr>
  )
}

/** The rule for all calls of a tool, or none, and how many may decide otherwise about some of them. */
function Rule({ usual: { verdict, rule, mayDiffer } }: { usual: UsualVerdict }) {
  return (
    <>
      <VerdictMark verdict={verdict} />{' '}
      {rule === null ? NO_RULE : <Link to={`/policy?${new URLSearchParams({ rule })}`}>{showInvisible(rule)}</Link>}
      {mayDiffer > 0 && (
        <span className="muted tool-differs" title={`${mayDifferText(mayDiffer)} may decide otherwise`}>
          {' '}
          + {mayDiffer} with a condition
        </span>
      )}
    </>
  )
}
