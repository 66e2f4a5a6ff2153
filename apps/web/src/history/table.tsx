import type { Action } from '@countersign/client'
import { RISK_WORDS, STATE_WORDS, showInvisible, spanText } from '@countersign/react'
import { Link } from 'react-router'
import { isGrant } from '../record/sentences.ts'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { HeadRow } from '../ui/head-row.tsx'
import { askedText } from '../waiting/row-words.ts'
import { ranMs, waitedMs } from './spans.ts'

/** Settled actions, one in a row: what, who asked, who decided, when, how long it waited and ran, and how it ended. */
export function DecidedTable({ actions }: { actions: readonly Action[] }) {
  return (
    <table className="decided" data-testid="decided-table">
      <caption className="visually-hidden">Settled actions, newest first</caption>
      <HeadRow names={['What', 'Asked by', 'Decided by', 'When', 'Waited', 'Ran', 'Result']} />
      <tbody>
        {actions.map((action) => (
          <DecidedRow key={action.id} action={action} />
        ))}
      </tbody>
    </table>
  )
}

function DecidedRow({ action }: { action: Action }) {
  const nowMs = useNow()
  const { id, description, tool, risk, state, settledAt, updatedAt } = action
  const at = settledAt ?? updatedAt
  return (
    <tr data-testid="decided-row" data-state={state}>
      <th scope="row" data-label="What">
        <Link to={`/actions/${id}`}>{showInvisible(description)}</Link>
        <span className="decided-small">
          <code>{showInvisible(tool)}</code> · {RISK_WORDS[risk.level]}
        </span>
      </th>
      <td data-label="Asked by">{askedText(action)}</td>
      <td data-label="Decided by">{deciderText(action)}</td>
      <td data-label="When">
        <time dateTime={at} title={fullTime(at)}>
          {relativeTime(at, nowMs)}
        </time>
      </td>
      <td data-label="Waited">{lengthText(waitedMs(action))}</td>
      <td data-label="Ran">{lengthText(ranMs(action))}</td>
      <td data-label="Result">
        <span className="decided-state" data-state={state}>
          <span aria-hidden="true">{STATE_WORDS[state].mark}</span> {STATE_WORDS[state].word}
        </span>
        <Why action={action} />
      </td>
    </tr>
  )
}

const lengthText = (ms: number | null): string => (ms === null ? '–' : spanText(ms))

/** The people whose votes decided, or the rule. */
function deciderText({ policy, votes, state }: Action): string {
  if (policy.verdict !== 'ask') return isGrant(policy.rule) ? `Grant: ${showInvisible(policy.reason)}` : policyText(policy.rule)
  const names = votes.map(({ by, for: lender }) => showInvisible(by.name) + (lender ? ` for ${showInvisible(lender.name)}` : ''))
  if (names.length > 0) return names.join(', ')
  return state === 'expired' ? 'Nobody in time' : '–'
}

const policyText = (rule: string): string => (rule === 'default' ? 'Policy: no rule allows it' : `Policy: ${showInvisible(rule)}`)

/** In a few words why it ended so. */
function Why({ action: { votes, error, resolution, policy, state } }: { action: Action }) {
  const said = votes.find(({ reason }) => reason !== undefined)?.reason
  const why = resolution?.note ?? error?.message ?? said ?? (state === 'declined' ? policy.reason : '')
  if (why === '') return null
  return (
    <span className="decided-small decided-why" title={showInvisible(why)}>
      {showInvisible(why)}
    </span>
  )
}
