import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useId, useMemo, useRef, useState } from 'react'
import { useStandsFor } from '../live/use-stands-for.ts'
import { bulkStartAfter, UNDO_WORDS, useUndoTime } from '../preferences/undo-time.ts'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { countText, type Outcome } from './outcome.ts'
import { planBulk, type Verdict } from './plan.ts'
import { decideAll } from './send.ts'
import { cellText, type Shape, shapesOf } from './shape.ts'
import { useRest } from './use-rest.ts'
import './bulk.css'

type BulkDialogProps = {
  /** As they were when the dialog was opened: what is decided is what it shows. */
  chosen: readonly Action[]
  verdict: Verdict
  onClose: () => void
  onDone: (outcome: Outcome) => void
}

/** Of those that are left out, so many are named. Of the others it is said how many, and why: ten thousand lines would take a phone seconds. */
const MOST_LEFT = 50

const VERBS = { approve: 'Approve', decline: 'Decline' } as const

/** Shows exactly what would be decided, what is left out and why, before many actions are decided at once. */
export default function BulkDialog({ chosen, verdict, onClose, onDone }: BulkDialogProps) {
  const { client, me } = useServices()
  const standsFor = useStandsFor()
  const [undoTime] = useUndoTime()
  const { going, left } = useMemo(() => planBulk(chosen, verdict, { me, standsFor }), [chosen, verdict, me, standsFor])
  const shapes = useMemo(() => shapesOf(going), [going])
  const [reason, setReason] = useState('')
  const [isBusy, setBusy] = useState(false)
  const isResting = useRest()
  const id = useId()
  const cancel = useRef<HTMLButtonElement>(null)
  const startAfter = bulkStartAfter(undoTime)

  async function send() {
    setBusy(true)
    const refused = await decideAll(client, going, { verdict, reason: reason.trim(), startAfter })
    // The undo bar says what went.
    onDone({ said: '', doing: 'decided', went: [], not: refused })
  }

  return (
    <Dialog
      open
      onClose={isBusy ? undefined : onClose}
      aria-labelledby={id}
      fullWidth
      maxWidth="md"
      // Where the dialog is loaded as it opens, the button's own autoFocus comes too early.
      slotProps={{ transition: { onEntered: () => !isControl(document.activeElement) && cancel.current?.focus() } }}
    >
      <div className="bulk">
        <h2 id={id}>
          {going.length === 0
            ? `None of these can be ${verdict === 'approve' ? 'approved' : 'declined'} together`
            : `${VERBS[verdict]} ${countText(going.length)}${left.length > 0 ? ` of ${chosen.length}` : ''}`}
        </h2>
        {verdict === 'approve' && going.length > 0 && (
          <p className="muted">
            They start after {UNDO_WORDS[startAfter as keyof typeof UNDO_WORDS] ?? startAfter}; until then all can be undone. Each is
            decided on its own.
          </p>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: with the keyboard alone it is scrolled once it has the focus */}
        <section className="bulk-lists" aria-label="What is decided" tabIndex={0}>
          {left.length > 0 && (
            <section className="bulk-left">
              <h3>Left out: {countText(left.length)}</h3>
              <ul>
                {left.slice(0, MOST_LEFT).map(({ action, why }) => (
                  <li key={action.id}>
                    <bdi>{showInvisible(action.description)}</bdi> <span className="muted">{why}</span>
                  </li>
                ))}
                {[...Map.groupBy(left.slice(MOST_LEFT), ({ why }) => why)].map(([why, { length }]) => (
                  <li key={why}>
                    {length.toLocaleString('en')} more <span className="muted">{why}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {shapes.map((shape) => (
            <ShapeTable key={shape.actions[0]?.id} shape={shape} />
          ))}
        </section>
        {going.length > 0 && (
          <label className="bulk-reason">
            {verdict === 'decline' ? 'Reason, for the agents' : 'Reason (optional)'}
            <textarea rows={2} maxLength={2_000} value={reason} onChange={({ currentTarget }) => setReason(currentTarget.value)} />
          </label>
        )}
        <div className="bulk-actions">
          <Button ref={cancel} variant="outlined" autoFocus disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          {going.length > 0 && (
            <Button variant="contained" aria-disabled={isResting || isBusy} onClick={() => !isResting && !isBusy && void send()}>
              {VERBS[verdict]} {going.length}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}

const isControl = (element: Element | null): boolean => element?.matches('button, textarea') ?? false

/** A table of more columns is wider than the dialog, and scrolled sideways. None is left out: all of them are decided. */
const FITTING_COLUMNS = 6

/** One line for each action of a shape, with what differs as columns; then, once, what they have in common. */
function ShapeTable({ shape: { title, actions, columns, same } }: { shape: Shape }) {
  const [first] = actions
  return (
    <table className="bulk-shape" data-wide={columns.length > FITTING_COLUMNS || undefined}>
      <caption>
        {actions.length > 1 && `${actions.length} × `}
        <bdi>{showInvisible(title)}</bdi> <code>{showInvisible(first?.tool ?? '')}</code>
      </caption>
      {actions.length > 1 && (
        <>
          <thead>
            <tr>
              <th scope="col">Action</th>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {showInvisible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {actions.map((action) => (
              <tr key={action.id}>
                <th scope="row">
                  <bdi>{showInvisible(action.description)}</bdi>
                </th>
                {columns.map((name) => (
                  <td key={name}>{cellText(action, name)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </>
      )}
      {first && same.length > 0 && (
        <tbody data-testid="bulk-same">
          {actions.length > 1 && (
            <tr>
              <th scope="rowgroup" colSpan={columns.length + 1} className="muted">
                The same in each
              </th>
            </tr>
          )}
          {same.map((name) => (
            <tr key={name}>
              <th scope="row">{showInvisible(name)}</th>
              <td colSpan={Math.max(columns.length, 1)}>{cellText(first, name)}</td>
            </tr>
          ))}
        </tbody>
      )}
    </table>
  )
}
