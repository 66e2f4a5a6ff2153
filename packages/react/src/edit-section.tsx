import type { Action, ApiIssue, JsonValue } from '@countersign/client'
import { valueText } from '@countersign/core/text'
import { type ReactNode, useRef, useState } from 'react'
import { CardButton } from './card-button.tsx'
import { dirOf, Value } from './change-rows.tsx'
import type { Arguments, Edit } from './edits.ts'
import { FOLDED } from './long-text.tsx'
import { usePart } from './parts.ts'
import { MARKS, showInvisible } from './show-text.ts'
import { useKeepFocus } from './use-keep-focus.ts'

/** The props that the card passes to an editor of arguments. */
export type EditorSlot = {
  action: Action
  /** As edited so far. */
  value: Arguments
  /** `undefined` while what stands there is not a whole value: nobody can approve that. */
  onChange: (value: Arguments | undefined) => void
  /** The server's validation errors, by JSON pointer into the arguments. */
  issues: readonly ApiIssue[]
}

type EditSectionProps = EditorSlot & {
  editor: (slot: EditorSlot) => ReactNode
  edits: readonly Edit[]
  isBroken: boolean
  /** The editor disappeared with the focus in it. */
  onFocusLost: () => void
}

/** Approving with other arguments: the editor behind a disclosure, and each edit as what the agent asked and what it would be. */
export function EditSection({ editor, edits, isBroken, onFocusLost, ...slot }: EditSectionProps) {
  const [open, setOpen] = useState(false)
  // Undone, the editor begins anew: it may hold more than whole values.
  const [round, setRound] = useState(0)
  return (
    <details className="cs-edit" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Edit <span className="cs-note">before you approve</span>
      </summary>
      {open ? (
        // An edit belongs to one revision.
        <Editor key={`${round} ${slot.action.revision}`} onFocusLost={onFocusLost}>
          {editor(slot)}
        </Editor>
      ) : null}
      <IssueList issues={slot.issues} />
      {edits.length === 0 ? null : <Edits edits={edits} />}
      {edits.length === 0 && !isBroken ? null : (
        <CardButton
          className="cs-small"
          onClick={() => {
            slot.onChange(slot.action.arguments)
            setRound(round + 1)
          }}
        >
          Undo all edits
        </CardButton>
      )}
    </details>
  )
}

function Editor({ children, onFocusLost }: { children: ReactNode; onFocusLost: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  useKeepFocus(box, onFocusLost)
  return <div ref={box}>{children}</div>
}

/** Each edit: what the agent asked → what a person made of it, each value as among the changes. */
export function Edits({ edits }: { edits: readonly Edit[] }) {
  usePart(FOLDED, true)
  // Arguments are JSON.
  const rows = edits.map(({ path, oldValue, newValue }) => ({
    field: path,
    oldValue: oldValue as JsonValue | undefined,
    newValue: newValue as JsonValue | undefined,
  }))
  return (
    <div className="cs-changes">
      <ul aria-label="Edits, from what the agent asked to what you approve">
        {rows.map((row) => {
          const { field, oldValue, newValue } = row
          const value = (side: 'old' | 'new') =>
            row[`${side}Value`] === undefined ? <em>nothing</em> : <Value row={row} rows={rows} side={side} path={`edits/${field}`} />
          return (
            <li key={field}>
              <span className="cs-field">{showInvisible(field === '' ? 'all' : field)}</span>
              {/* A list may be a table, which stands in no line of text. */}
              <div className="cs-values">
                <del dir={dirOf(oldValue)}>{value('old')}</del>
                <span aria-hidden="true"> → </span>
                <ins dir={dirOf(newValue)}>{value('new')}</ins>
                <Alike oldValue={oldValue} newValue={newValue} />
              </div>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function Alike({ oldValue, newValue }: Omit<Edit, 'path'>) {
  const alike =
    oldValue === undefined || newValue === undefined ? undefined : MARKS.get().module?.tellApart(valueText(oldValue), valueText(newValue))
  return alike === undefined ? null : <strong className="cs-alike"> {alike}</strong>
}

function IssueList({ issues }: { issues: readonly ApiIssue[] }) {
  if (issues.length === 0) return null
  return (
    <div role="alert">
      <ul className="cs-issues">
        {issues.map(({ path, message }) => (
          <li key={`${path} ${message}`}>{showInvisible(message)}</li>
        ))}
      </ul>
    </div>
  )
}
