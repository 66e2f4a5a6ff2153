import { isComposing, showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { forgetDraft } from '../drafts.ts'
import { useOnline } from '../live/use-online.ts'
import { isTyping } from '../preferences/shortcuts.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { noteSession, refreshSessions, tellOtherWindows } from '../shell/use-sessions.ts'
import { Failure, Unseen } from '../ui/index.ts'

type SessionToolsProps = { sessionId: string; title: string; renameButton: RefObject<HTMLButtonElement | null>; onRename: () => void }

/** The buttons with which the owner and admins rename and delete a session. */
export function SessionTools({ sessionId, title, renameButton, onRename }: SessionToolsProps) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <span className="bar-actions">
      <button type="button" ref={renameButton} className="bar-action" onClick={onRename}>
        Rename
      </button>
      <button type="button" className="bar-action" onClick={() => setDeleting(true)}>
        Delete
      </button>
      {isDeleting && <DeleteSession sessionId={sessionId} title={title} onClose={() => setDeleting(false)} />}
    </span>
  )
}

function DeleteSession({ sessionId, title, onClose }: { sessionId: string; title: string; onClose: () => void }) {
  const { client } = useServices()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isCancelled = useRef(false)
  async function remove() {
    await client.sessions.remove(sessionId)
    forgetDraft(sessionId)
    void refreshSessions(queries)
    tellOtherWindows()
    // By now the person may be on another page, or go on with this one, with a text in one of its fields.
    if (!isCancelled.current && window.location.pathname === `/sessions/${sessionId}`) navigate('/', { replace: true })
  }
  const close = () => {
    isCancelled.current = true
    onClose()
  }
  return (
    <Confirmation title={`Delete “${showInvisible(title)}”?`} action="Delete" onConfirm={remove} onClose={close}>
      <p>All messages are deleted for everybody and waiting actions are cancelled. This cannot be undone.</p>
      <p>Its actions stay, with what they changed and who decided, and so does the record.</p>
    </Confirmation>
  )
}

type TitleFormProps = {
  sessionId: string
  title: string
  /** Told whether the person types in another field already, and keeps the focus there. */
  onClose: (isElsewhere: boolean) => void
}

/** Edits the title. Enter saves, Escape cancels. The typed text stays when saving fails. */
export function TitleForm({ sessionId, title, onClose }: TitleFormProps) {
  const { client } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const form = useRef<HTMLFormElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const close = () => onClose(isTyping(document.activeElement) && !form.current?.contains(document.activeElement))
  const [typed, setTyped] = useState(title)
  const rename = useMutation({
    mutationFn: (text: string) => client.sessions.rename(sessionId, text),
    onSuccess: (session) => {
      noteSession(queries, session)
      tellOtherWindows()
    },
  })
  useEffect(() => field.current?.select(), [])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const text = typed.trim()
    if (text === title) close()
    else if (text !== '') rename.mutate(text, { onSuccess: close })
  }

  return (
    <section className="title-box" aria-label="Rename the session">
      <form ref={form} className="title-form" onSubmit={submit}>
        <input
          ref={field}
          className="line-field"
          aria-label="Title of the session"
          value={typed}
          required
          maxLength={200}
          autoComplete="off"
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !isComposing(event)) close()
          }}
        />
        <button type="submit" className="bar-action" disabled={rename.isPending || !online}>
          Save
        </button>
        <button type="button" className="bar-action" onClick={close}>
          Cancel
        </button>
        <Unseen text={typed} />
        <Failure of={rename.error} />
      </form>
    </section>
  )
}
