import type { Action, ConnectionState } from '@countersign/client'
import type { RefObject } from 'react'
import { Link } from 'react-router'
import { ActionCard } from '../action/action-card.tsx'
import { useAction } from '../action/use-action.ts'
import { AssignButton } from '../assign/assign-button.tsx'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { SeenLine } from '../seen/seen-line.tsx'
import { useServices } from '../services.tsx'
import { SnoozeButton } from '../snooze/snooze-button.tsx'
import { mayDecide } from './is-mine.ts'
import { leavePlace } from './place.ts'
import { needsPerson } from './views.ts'

export type PaneProps = {
  known: Action
  /** "3 of 14". */
  place: string
  /** How many rows are of the same shape, with this one. */
  alike: number
  onChooseAlike: () => void
  onSnooze: () => void
  onAssign: () => void
  connection: ConnectionState
  pane: RefObject<HTMLElement | null>
  /** The action needs this person no more. */
  onSettled: () => void
}

/** The whole card of the selected row, beside the list. */
export default function Pane({ known, place, alike, onChooseAlike, onSnooze, onAssign, connection, pane, onSettled }: PaneProps) {
  const { action = known } = useAction(known.id, known)
  const { me } = useServices()
  const standsFor = useStandsFor()
  // Given more time, taken back or looked up in vain, it still does.
  const onAnswered = (answered: Action) => {
    if (!needsPerson(answered) || !mayDecide(answered, { me, standsFor })) onSettled()
  }
  return (
    <section className="inbox-pane" ref={pane} aria-label="Selected action">
      <div className="inbox-pane-bar">
        <span>{place}</span>
        {alike > 1 && (
          <button type="button" className="inbox-task" onClick={onChooseAlike}>
            Choose {alike.toLocaleString('en')} alike
          </button>
        )}
        <AssignButton action={action} className="inbox-task" onOpen={onAssign} />
        <SnoozeButton action={action} className="inbox-task" onOpen={onSnooze} />
        {action.sessionId && <Link to={`/sessions/${action.sessionId}`}>Open chat</Link>}
        <Link to={`/actions/${action.id}`} state={{ inbox: window.location.search }} onClick={() => leavePlace(action.id)}>
          Whole page
        </Link>
      </div>
      <SeenLine action={action} />
      <div className="inbox-pane-card">
        <ActionCard action={action} connection={connection} linkSession={false} onSettled={onAnswered} />
      </div>
      <KeyLine />
    </section>
  )
}

function KeyLine() {
  const [shortcuts] = useShortcuts()
  if (!shortcuts) return null
  return (
    <p className="inbox-keys" aria-hidden="true">
      <span>
        <kbd>J</kbd> <kbd>K</kbd> move
      </span>
      <span>
        <kbd>A</kbd> approve
      </span>
      <span>
        <kbd>D</kbd> decline
      </span>
      <span>
        <kbd>E</kbd> edit
      </span>
      <span>
        <kbd>X</kbd> choose
      </span>
      <span>
        <kbd>S</kbd> snooze
      </span>
      <span>
        <kbd>M</kbd> assign
      </span>
      <span>
        <kbd>?</kbd> all keys
      </span>
    </p>
  )
}
