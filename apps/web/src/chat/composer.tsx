import { isComposing } from '@countersign/react'
import { type FormEvent, type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { keepDraft, readDraft } from '../drafts.ts'
import { errorText } from '../errors.ts'
import { Button, Icon, IconButton, Notice } from '../ui/index.ts'
import { TextareaAutosize } from '../ui/textarea.ts'
import { type Send, useSending } from './use-sending.ts'

type ComposerProps = {
  /** The key of the draft: a session's id, or `new`. */
  draftOf: string
  /** On rejection the text stays in the field. */
  onSend: Send
  /** Why nothing can be sent now. The text can still be written. */
  blocked?: string
  placeholder: string
  hint?: string
  autoFocus?: boolean
  field?: RefObject<HTMLTextAreaElement | null>
  /** Stops the agent. Set only while it is running. */
  onStop?: () => Promise<void>
}

/** As the server has it. No limit of the field: a longer text that is pasted would lose its end, and the rest would be sent. */
const MOST_CHARS = 100_000
const TOO_LONG = 'a message may have 100,000. Shorten it to send it.'

/** The message field. Enter sends, Shift+Enter breaks the line. Incoming messages never move the caret or the text. */
export function Composer({ draftOf, onSend, blocked, placeholder, hint, autoFocus = false, field, onStop }: ComposerProps) {
  const [text, setText] = useState(() => readDraft(draftOf))
  const { post, noteTyped, failure, setFailure } = useSending(onSend, 'Not sent, your text is kept.', draftOf)
  const [isStopping, setStopping] = useState(false)
  const hintId = useId()
  const tooLong = text.length > MOST_CHARS ? `${text.length.toLocaleString('en')} characters: ${TOO_LONG}` : undefined
  const unsendable = blocked ?? tooLong

  function change(next: string) {
    setText(next)
    keepDraft(draftOf, next)
    noteTyped(next)
  }

  async function send() {
    const sent = text
    if (sent.trim() === '' || unsendable || !(await post(sent))) return
    // Remove only the sent text, because somebody may have typed more while the server answered.
    const held = readDraft(draftOf)
    change(held.startsWith(sent) ? held.slice(sent.length).trimStart() : held)
  }

  async function stop() {
    setStopping(true)
    setFailure('')
    try {
      await onStop?.()
    } catch (error) {
      setFailure(`Not stopped. ${errorText(error)}`)
    } finally {
      setStopping(false)
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
    event.preventDefault()
    void send()
  }

  return (
    <form
      className="composer"
      aria-label="Write a message"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void send()
      }}
    >
      {failure && (
        <div role="alert">
          <Notice tone="error">{failure}</Notice>
        </div>
      )}
      <div className="composer-box">
        <TextareaAutosize
          ref={field}
          aria-label="Message"
          aria-describedby={hintId}
          placeholder={placeholder}
          maxRows={10}
          value={text}
          autoFocus={autoFocus}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
          data-testid="composer"
        />
        {onStop && (
          <Button
            variant="outlined"
            className="stop"
            title="Ends the run and cancels what has not started"
            disabled={isStopping}
            onClick={stop}
            data-testid="stop"
          >
            <Icon name="stop" size={14} />
            Stop
          </Button>
        )}
        <IconButton
          type="submit"
          className="send"
          aria-label="Send"
          disabled={text.trim() === '' || Boolean(unsendable)}
          data-testid="send"
        >
          <Icon name="send" />
        </IconButton>
      </div>
      <p className="composer-hint" id={hintId} data-blocked={Boolean(unsendable)}>
        {unsendable ?? hint ?? 'Enter sends, Shift+Enter starts a new line.'}
      </p>
    </form>
  )
}
