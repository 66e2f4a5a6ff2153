import { type Action, type AssignTo, isApiError } from '@countersign/client'
import { assigneeOf } from '@countersign/core/text'
import { showInvisible, whyNot } from '@countersign/react'
import { AssignChoices, rolesOf } from '../assign/assign-choices.tsx'
import { assignedText } from '../assign/words.ts'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
import { needsPerson } from '../waiting/views.ts'
import { ChoiceDialog } from './choice-dialog.tsx'
import { type BulkTaskProps, countText } from './outcome.ts'
import { shareText, splitBy } from './split.ts'
import { useEach } from './use-each.ts'

/** Asks who should decide about the chosen actions. Each is assigned on its own, unless somebody else assigned it since it was shown. */
export default function BulkAssignDialog({ chosen, onClose, onDone }: BulkTaskProps) {
  const { client, inbox, me } = useServices()
  const standsFor = useStandsFor()
  const { progress, stop, change } = useEach()
  const roles = [...new Set(chosen.flatMap(rolesOf))]
  const isMe = (to: AssignTo) => 'person' in to && to.person === me.id

  const split = (to: AssignTo | null) =>
    splitBy(chosen, (action) => {
      if (to === null || 'person' in to) return (to !== null && isMe(to) && whyNot(action, me, standsFor)) || { action }
      return rolesOf(action).includes(to.role) ? { action } : `The role ${showInvisible(to.role)} may not decide about it.`
    })

  async function assign(to: AssignTo | null, name: string) {
    const { going, left } = split(to)
    const news: Action[] = []
    const send = async ({ action }: { action: Action }, options: { signal: AbortSignal }) => {
      news.push(await client.actions.assign(action.id, { to, was: assigneeOf(action) }, options))
    }
    const { went, not } = await change(going, send, (error) => {
      const now = isApiError(error) ? error.action : undefined
      if (!now) return undefined
      news.push(now)
      return needsPerson(now) ? meanwhileText(now) : undefined
    })
    inbox.include(news)
    onDone({ said: `${countText(went.length)} assigned to ${name}`, doing: 'assigned', went, not: [...not, ...left] })
  }

  /** The words for an action that somebody else assigned after it was shown here. */
  function meanwhileText(now: Action): string {
    if (!now.assignment) return 'Somebody took its assignment back meanwhile.'
    return `${assignedText(now, me)} meanwhile, by ${now.assignment.by.id === me.id ? 'you' : showInvisible(now.assignment.by.name)}.`
  }

  return (
    <ChoiceDialog title={`Assign ${countText(chosen.length)}`} className="assign" progress={progress} onStop={stop} onClose={onClose}>
      <p className="muted">Choose who should decide. It does not change who may decide.</p>
      <AssignChoices
        roles={roles}
        isForMe={chosen.some((action) => whyNot(action, me, standsFor) === null)}
        isBusy={false}
        more={(to) => shareText(split(to))}
        onChoose={(to, name) => void assign(to, name)}
      />
      <div className="dialog-end">
        {chosen.some(({ assignment }) => assignment) && (
          <Button onClick={() => void assign(null, 'nobody in particular')}>Nobody in particular</Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </ChoiceDialog>
  )
}
