import { type CheckedPolicy, isApiError, type PolicyView } from '@countersign/client'
import { isComposing } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, lazy, useId, useRef, useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { Button, Notice, Skeleton, Unseen } from '../ui/index.ts'
import { DiffView } from './diff-view.tsx'
import type { Edited } from './kept-edit.ts'
import { PolicyPanels } from './policy-panels.tsx'
import { Problems, Remarks } from './problems.tsx'
import { usePolicyCheck } from './use-policy-check.ts'

const RuleForm = lazy(() => import('./rule-form.tsx'))

type PolicyEditorProps = {
  edited: Edited
  /** The rule that the form begins with; null leaves the form closed. */
  first: string | null
  onEdit: (changed: Partial<Pick<Edited, 'text' | 'reason' | 'shadow'>>) => void
  /** The active version. It differs from `edited.base` once somebody else has saved one. */
  current: { view: PolicyView; text: string }
  /** Continues from the active version. */
  onRebase: () => void
  onClose: () => void
}

/** Edits the policy document: validates it, compares it with the active version and saves it with a reason. */
export function PolicyEditor({ edited, first, onEdit, current, onRebase, onClose }: PolicyEditorProps) {
  const { client } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const id = useId()
  const { text, base, baseText, reason, shadow } = edited
  const [isFormOpen, setFormOpen] = useState(first !== null)
  const { checked, error: checkError } = usePolicyCheck(text)
  const save = useMutation({
    mutationFn: () => client.policy.save({ document: text, reason: reason.trim(), shadow }, base.version),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['policy'] }),
  })
  const conflict = isApiError(save.error) && save.error.code === 'revision_mismatch'
  const movedOn = current.view.version !== base.version
  const failure = save.error ?? checkError
  const edit = (changed: string) => {
    save.reset()
    onEdit({ text: changed })
  }
  const canSave = !save.isPending && online && !movedOn && reason.trim() !== '' && text !== baseText
  const why = useRef<HTMLInputElement>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // Not an option of the mutation: this callback does not run after `save.reset()`, so whoever has typed on keeps the editor.
    if (canSave) save.mutate(undefined, { onSuccess: onClose })
  }
  /** From any field to the reason. In the reason, Enter saves. */
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isComposing(event)) return
    event.preventDefault()
    why.current?.focus()
  }
  return (
    <section aria-labelledby={`${id}-title`} className="policy-columns" data-testid="policy-editor" onKeyDown={onKeyDown}>
      <h2 id={`${id}-title`}>Edit, based on version {base.version}</h2>
      <details className="panel" open={first !== null} onToggle={({ currentTarget }) => setFormOpen(currentTarget.open)}>
        <summary>Edit one rule in a form</summary>
        {isFormOpen && (
          <Boundary fallback={<Skeleton height={240} />}>
            <RuleForm text={text} onEdit={edit} problems={checked?.problems ?? []} checked={checked} first={first} />
          </Boundary>
        )}
      </details>
      <PolicyPanels document={text} />
      <details className="panel" open={first === null}>
        <summary>All rules as YAML or JSON</summary>
        <label className="labelled">
          Document (YAML or JSON)
          <textarea
            className="mono"
            rows={Math.min(32, Math.max(10, text.split('\n').length + 1))}
            spellCheck={false}
            value={text}
            onChange={({ currentTarget }) => edit(currentTarget.value)}
          />
        </label>
      </details>
      <Unseen text={text} />
      {failure != null && !conflict && <Problems error={failure} />}
      <Checked checked={checked} />
      {(conflict || movedOn) && (
        <div role="alert">
          <Notice tone="warning" action={movedOn && <Button onClick={onRebase}>Compare with version {current.view.version}</Button>}>
            Somebody saved another version while you edited. Your text is still here; look at what changed before you save it.
          </Notice>
        </div>
      )}
      <div>
        <h3>What would change</h3>
        <DiffView before={baseText} after={text} />
      </div>
      <form className="stack" onSubmit={submit}>
        <label className="labelled">
          <span className="row-head">
            Reason, for the list of versions and the record
            <span className="muted keys" aria-hidden="true">
              <kbd>Ctrl</kbd> <kbd>Enter</kbd> leads here
            </span>
          </span>
          <input ref={why} value={reason} maxLength={2_000} onChange={({ currentTarget }) => onEdit({ reason: currentTarget.value })} />
        </label>
        <label className="check">
          <input type="checkbox" checked={shadow} onChange={({ currentTarget }) => onEdit({ shadow: currentTarget.checked })} />
          Only try it beside the version in force: it decides nothing, and what it would have said otherwise is counted
        </label>
        <div className="row-head">
          <Button variant="outlined" onClick={onClose}>
            Leave without saving
          </Button>
          <Button type="submit" variant="contained" disabled={!canSave}>
            {shadow ? 'Save as trial' : 'Save and activate'}
          </Button>
        </div>
        {reason.trim() === '' && text !== baseText && <p className="muted">Say why before you save.</p>}
      </form>
    </section>
  )
}

/** Shows the problems and warnings that the server found in the current text. Screen readers announce them once typing stops. */
function Checked({ checked }: { checked: CheckedPolicy | undefined }) {
  return (
    <div role="status" data-testid="policy-checked">
      {checked?.problems.length === 0 && <p>It can be used: every tool exists and every condition compiles.</p>}
      {checked && checked.problems.length > 0 && (
        <div className="field-issue">
          <p>It cannot be used yet:</p>
          <Remarks of={checked.problems} />
        </div>
      )}
      {checked && checked.warnings.length > 0 && (
        <div className="field-warning">
          <p>Likely mistakes:</p>
          <Remarks of={checked.warnings} />
        </div>
      )}
    </div>
  )
}
