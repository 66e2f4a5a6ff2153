import type { Action } from '@countersign/client'
import { decidingReason } from '@countersign/core/text'
import { RISK_WORDS, STATE_WORDS, showInvisible, spanText } from '@countersign/react'
import { Link } from 'react-router'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { HeadRow } from '../ui/head-row.tsx'
import { askedText } from '../waiting/row-words.ts'
import { deciderText } from './decider.ts'
import type { Group } from './groups.ts'
import { ranMs, waitedMs } from './spans.ts'
import '../ui/table.css'

const COLUMNS = ['What', 'Asked by', 'Decided by', 'When', 'Waited', 'Ran', 'Result']

type DecidedTableProps = {
  groups: readonly Group[]
  /** Their order, as in `newest first`. */
  order: string
  /** True while only a part of what was found is read. */
  more: boolean
}

/** Settled actions, one in a row: what, who asked, who decided, when, how long it waited and ran, and how it ended. */
export function DecidedTable({ groups, order, more }: DecidedTableProps) {
  return (
    <table className="wide-table decided" data-testid="decided-table">
      <caption className="visually-hidden">Settled actions, {order}</caption>
      <HeadRow names={COLUMNS} />
      {groups.map((group) => (
        <tbody key={group.key}>
          {group.title !== undefined && <GroupRow group={group} title={group.title} more={more} />}
          {group.actions.map((action) => (
            <DecidedRow key={action.id} action={action} />
          ))}
        </tbody>
      ))}
    </table>
  )
}

/** The heading of a group: what its rows have in common, how many of them are on the page, and the way to all of them. */
function GroupRow({ group: { href, actions }, title, more }: { group: Group; title: string; more: boolean }) {
  return (
    <tr className="decided-group" data-testid="decided-group">
      <th scope="rowgroup" colSpan={COLUMNS.length}>
        <span>
          {title}{' '}
          <span className="badge-text">
            {actions.length.toLocaleString('en')}
            {more && '+'}
          </span>
        </span>
        {more && href !== undefined && (
          <Link to={href} aria-label={`Find all: ${title}`}>
            Find all
          </Link>
        )}
      </th>
    </tr>
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

/** In a few words why it ended so. */
function Why({ action }: { action: Action }) {
  const { error, resolution, policy, state } = action
  const why =
    resolution?.note ?? error?.message ?? decidingReason(action) ?? (state === 'declined' && policy.verdict === 'deny' ? policy.reason : '')
  if (why === '') return null
  return (
    <span className="decided-small decided-why" title={showInvisible(why)}>
      {showInvisible(why)}
    </span>
  )
}
