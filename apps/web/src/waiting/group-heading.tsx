import { showInvisible } from '@countersign/react'
import { memo } from 'react'
import { hoverTime, relativeTime } from '../time/relative.ts'
import { Icon } from '../ui/index.ts'
import type { Group } from './groups.ts'
import { ChooseBox, RiskMark } from './row.tsx'

type GroupHeadingProps = {
  group: Group
  at: number
  of: number
  isFolded: boolean
  isSelected: boolean
  /** Whether its open actions are chosen: all, none or some. */
  isChosen: boolean | 'mixed'
  /** From its own top to the end of its last row, in px: there it stays in sight while its rows are scrolled through. */
  top: number
  height: number
  nowMs: number
  onFold: (groupId: string) => void
  onChoose: (group: Group) => void
}

/** The heading of a group in one line: how many, the words that they have in common, the highest risk and the longest wait. */
export const GroupHeading = memo(function GroupHeading(props: GroupHeadingProps) {
  const { group, at, of, isFolded, isSelected, isChosen, top, height, nowMs, onFold, onChoose } = props
  const { id, title, open, risk, since, columns, moreColumns } = group
  return (
    <div role="presentation" className="inbox-group" style={{ top, height }}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are on the list */}
      <div
        role="treeitem"
        aria-level={1}
        aria-expanded={!isFolded}
        aria-selected={isSelected}
        aria-checked={open.length > 0 ? isChosen : undefined}
        aria-posinset={at}
        aria-setsize={of}
        tabIndex={isSelected ? 0 : -1}
        className="inbox-heading"
        data-testid="waiting-group"
        onClick={() => onFold(id)}
      >
        {open.length > 0 && <ChooseBox isChosen={isChosen} onChoose={() => onChoose(group)} />}
        <span className="inbox-title" title={title}>
          <Icon name="chevron" size={14} />
          {risk && <RiskMark level={risk} />}
          <span>
            {open.length.toLocaleString('en')} × <bdi>{title}</bdi>
          </span>
        </span>
        {since && (
          <time className="inbox-age" dateTime={since} title={hoverTime(since)}>
            <span className="visually-hidden">, oldest </span>
            {relativeTime(since, nowMs)}
          </time>
        )}
        {!isFolded && columns.length > 0 && (
          <span className="inbox-cells" aria-hidden="true">
            {columns.map((name, at) => (
              <span key={name} className="inbox-cell">
                {showInvisible(name)}
                {moreColumns > 0 && at === columns.length - 1 && ` and ${moreColumns} more`}
              </span>
            ))}
          </span>
        )}
      </div>
    </div>
  )
})
