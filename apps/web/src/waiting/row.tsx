import type { Action, RiskLevel } from '@countersign/client'
import { clockText, RISK_WORDS, STATE_WORDS, showInvisible } from '@countersign/react'
import { memo } from 'react'
import { useAction } from '../action/use-action.ts'
import { assignedText } from '../assign/words.ts'
import { cellText } from '../bulk/shape.ts'
import { hoverTime } from '../time/relative.ts'
import { Seconds } from '../undo/seconds.tsx'
import { ageText, askedText, endText, standingText } from './row-words.ts'
import { needsPerson } from './views.ts'

type RowProps = RowTextProps & {
  at: number
  of: number
  /** Where the list is grouped: 2 for a row below a heading, 1 for one that stands for itself. */
  level: 1 | 2 | undefined
  /** True for the row whose card is shown. */
  isSelected: boolean
  /** True for a row that was chosen to be decided together with others. */
  isChosen: boolean
  /** Where it stands in the list, in px. */
  top: number
  onPick: (id: string) => void
  onChoose: (id: string) => void
}

type RowTextProps = {
  action: Action
  meId: string
  nowMs: number
  /** When the snoozed action returns, as ISO 8601. */
  until: string | undefined
  /** The arguments that stand for the headline, below a heading that has the words of it; none where the headline itself is shown. */
  columns: readonly string[]
}

/**
 * One action in a line: risk, what would happen, who asked, and what is pressing about it. Dozens of them come with each frame while the list is
 * scrolled, so the list asks once for what all of them need, and those that stay are not drawn again.
 */
export const Row = memo(function Row({ at, of, level, isSelected, isChosen, top, onPick, onChoose, ...text }: RowProps) {
  const { action } = text
  return (
    // biome-ignore-start lint/a11y: the keys are on the list, and the role is that of an option or of a tree item
    <div
      role={level === undefined ? 'option' : 'treeitem'}
      aria-level={level}
      tabIndex={isSelected ? 0 : -1}
      aria-selected={isSelected}
      aria-checked={needsPerson(action) ? isChosen : undefined}
      aria-posinset={at}
      aria-setsize={of}
      className="inbox-row"
      style={{ transform: `translateY(${top}px)` }}
      data-row={action.id}
      data-testid="waiting-row"
      data-decided={!needsPerson(action)}
      onClick={() => onPick(action.id)}
    >
      {needsPerson(action) && <ChooseBox isChosen={isChosen} onChoose={() => onChoose(action.id)} />}
      {needsPerson(action) ? <RowText {...text} /> : <DecidedRowText {...text} />}
    </div>
    // biome-ignore-end lint/a11y: see above
  )
})

/** Chooses a row with the pointer or a finger, in place of its mark. X does it for the selected row, which says whether it is chosen. */
export function ChooseBox({ isChosen, onChoose }: { isChosen: boolean | 'mixed'; onChoose: () => void }) {
  return (
    <span
      className="inbox-choose"
      aria-hidden="true"
      data-chosen={isChosen}
      data-testid="choose"
      title="Choose"
      onClick={(event) => {
        event.stopPropagation()
        onChoose()
      }}
    >
      <span>{isChosen === 'mixed' ? '–' : isChosen && '✓'}</span>
    </span>
  )
}

/** The inbox's stream forgets an action soon after its decision: until it is settled the row asks for it. */
function DecidedRowText({ action: known, ...text }: RowTextProps) {
  const { action = known } = useAction(known.id, known)
  return <RowText {...text} action={action} />
}

/** Apart from the place of the row: one action that comes above it changes the place of all, and the text of none. */
const RowText = memo(function RowText({ action, meId, nowMs, until, columns }: RowTextProps) {
  const asked = askedText(action)
  const tool = showInvisible(action.tool)
  const assigned = assignedText(action, { id: meId })
  const standing = standingText(action, nowMs)
  const { text, isAlarm } = until === undefined ? standing : { text: `Snoozed until ${clockText(until, nowMs)}`, isAlarm: false }
  const since = action.state === 'proposed' ? action.createdAt : action.updatedAt
  return (
    <>
      <RowMark action={action} />
      <span className="inbox-line">
        <span className="inbox-what" title={showInvisible(action.description)}>
          {columns.length === 0 ? showInvisible(action.description) : <Cells action={action} columns={columns} />}
        </span>
        <time className="inbox-age" dateTime={since} title={hoverTime(since)}>
          {ageText(action, nowMs)}
        </time>
      </span>
      <span className="inbox-line">
        <span className="inbox-who" title={[asked, tool, assigned].filter(Boolean).join(' · ')}>
          <span>{asked}</span>
          <span aria-hidden="true"> · </span>
          <code>{tool}</code>
          {assigned && <span className="inbox-assigned"> · {assigned}</span>}
        </span>
        <span className="inbox-standing" data-alarm={isAlarm} title={endText(action, nowMs) || text}>
          {action.state === 'approved' && action.startsAt !== null ? (
            <>
              Starts in <Seconds untilMs={Date.parse(action.startsAt)} />
            </>
          ) : (
            text
          )}
        </span>
      </span>
    </>
  )
})

/** Shows the values that differ from the other rows of the group. The heading has the names of the columns, and screen readers hear them with each value. */
const Cells = ({ action, columns }: { action: Action; columns: readonly string[] }) => (
  <span className="inbox-cells">
    {columns.map((name) => (
      <span key={name} className="inbox-cell" title={`${showInvisible(name)}: ${cellText(action, name)}`}>
        <span className="visually-hidden">{showInvisible(name)}: </span>
        <bdi>{cellText(action, name)}</bdi>
        <span className="visually-hidden">. </span>
      </span>
    ))}
  </span>
)

const RISK_MARKS: Readonly<Record<RiskLevel, string>> = { low: '', medium: '!', high: '!!', critical: '!!!' }

/** The risk by shape and colour, and in words for who does not see it. */
export const RiskMark = ({ level }: { level: RiskLevel }) => (
  <span className="inbox-mark" data-level={level} data-state="proposed">
    <span aria-hidden="true">{RISK_MARKS[level]}</span>
    <span className="visually-hidden">{RISK_WORDS[level]}. </span>
  </span>
)

/** The risk or, once it is decided, the mark of its state. */
function RowMark({ action: { state, risk } }: { action: Action }) {
  if (state === 'proposed') return <RiskMark level={risk.level} />
  return (
    <span className="inbox-mark" data-state={state}>
      <span aria-hidden="true">{STATE_WORDS[state].mark}</span>
      <span className="visually-hidden">{STATE_WORDS[state].word}. </span>
    </span>
  )
}
