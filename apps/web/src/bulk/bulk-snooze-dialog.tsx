import { clockText } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useServices } from '../services.tsx'
import { SNOOZES, useSnoozes } from '../snooze/use-snoozes.ts'
import { Button } from '../ui/index.ts'
import { ChoiceDialog } from './choice-dialog.tsx'
import { type BulkTaskProps, countText, type Outcome } from './outcome.ts'
import { snoozeChoices, TOO_SOON } from './snooze-choices.ts'
import { shareText } from './split.ts'
import { useEach } from './use-each.ts'
import '../snooze/snooze.css'

/** Asks until when the chosen actions are left out of this person's inbox. */
export default function BulkSnoozeDialog({ chosen, onClose, onDone }: BulkTaskProps) {
  const { client } = useServices()
  const snoozes = useSnoozes()
  const queries = useQueryClient()
  const { progress, stop, change } = useEach()
  const nowMs = Date.now()
  const choices = snoozeChoices(chosen, nowMs)
  const snoozed = chosen.filter(({ id: actionId }) => snoozes.has(actionId)).map((action) => ({ action }))

  async function snooze(words: string) {
    // Some may have come too near to their deadline while the dialog was open.
    const choice = snoozeChoices(chosen, Date.now()).find((one) => one.words === words)
    const { going, left } = choice ?? { going: [], left: chosen.map((action) => ({ action, why: TOO_SOON })) }
    const { went, not } = await change(going, ({ action, body }, options) => client.actions.snooze(action.id, body, options))
    const until = choice?.atMs === undefined ? 'until 5 minutes before each expires' : `until ${timeText(choice.atMs)}`
    finish({ said: `${countText(went.length)} snoozed ${until}`, doing: 'snoozed', went, not: [...not, ...left] })
  }

  async function takeBack() {
    const { went, not } = await change(snoozed, ({ action }, options) => client.actions.endSnooze(action.id, options))
    finish({ said: `${countText(went.length)} back in the inbox`, doing: 'taken back', went, not })
  }

  function finish(outcome: Outcome) {
    void queries.invalidateQueries({ queryKey: SNOOZES })
    onDone(outcome)
  }

  const timeText = (atMs: number) => clockText(new Date(atMs).toISOString(), Date.now())
  return (
    <ChoiceDialog title={`Snooze ${countText(chosen.length)}`} className="snooze" progress={progress} onStop={stop} onClose={onClose}>
      <p className="muted">Your inbox hides them until then, or until they change. Others still see them.</p>
      {choices.map((choice, at) => (
        <Button key={choice.words} variant="outlined" autoFocus={at === 0} onClick={() => void snooze(choice.words)}>
          <span>{choice.words}</span>
          <span>
            <span className="bulk-share">{shareText(choice)}</span> {choice.atMs !== undefined && <time>{timeText(choice.atMs)}</time>}
          </span>
        </Button>
      ))}
      {choices.length === 0 && <p>They expire too soon to be snoozed.</p>}
      {choices.some(({ left }) => left.length > 0) && <p className="muted">Actions that are left out stay chosen.</p>}
      <div className="dialog-end">
        {snoozed.length > 0 && <Button onClick={() => void takeBack()}>Back to the inbox now</Button>}
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </ChoiceDialog>
  )
}
