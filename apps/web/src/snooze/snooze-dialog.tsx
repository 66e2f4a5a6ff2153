import type { Action, SnoozeBody } from '@countersign/client'
import { snoozeTimes } from '@countersign/core/text'
import { clockText, showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import { useServices } from '../services.tsx'
import { Button, Failure } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { SNOOZES, useSnoozes } from './use-snoozes.ts'
import '../ui/choice-dialog.css'
import './snooze.css'

/** Asks until when an action is left out of this person's inbox. */
export default function SnoozeDialog({ action, onClose }: { action: Action; onClose: () => void }) {
  const { client } = useServices()
  const until = useSnoozes().get(action.id)
  const queries = useQueryClient()
  const id = useId()
  const change = useMutation({
    mutationFn: (body: SnoozeBody | undefined): Promise<unknown> =>
      body === undefined ? client.actions.endSnooze(action.id) : client.actions.snooze(action.id, body),
    onSuccess: () => queries.invalidateQueries({ queryKey: SNOOZES }),
  })
  // Not an option of the mutation: this callback does not run after Cancel, when the answer would close the next dialog of the page.
  const choose = (body: SnoozeBody | undefined) => change.mutate(body, { onSuccess: onClose })
  const nowMs = Date.now()
  const times = snoozeTimes(action, nowMs)
  return (
    <Dialog open onClose={onClose} aria-labelledby={id} fullWidth maxWidth="xs">
      <div className="choice-dialog snooze">
        <h2 id={id}>Snooze</h2>
        <p className="muted">
          <bdi>{showInvisible(action.description)}</bdi>
        </p>
        <p className="muted">Your inbox hides it until then, or until it changes. Others still see it.</p>
        {times.map(({ words, atMs, body }, at) => (
          <Button key={words} variant="outlined" autoFocus={at === 0} disabled={change.isPending} onClick={() => choose(body)}>
            <span>{words}</span>
            <time>{clockText(new Date(atMs).toISOString(), nowMs)}</time>
          </Button>
        ))}
        {times.length === 0 && <p>It expires too soon to be snoozed.</p>}
        <Failure of={change.error} />
        <div className="dialog-end">
          {until !== undefined && (
            <Button disabled={change.isPending} onClick={() => choose(undefined)}>
              Back to the inbox now
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}
