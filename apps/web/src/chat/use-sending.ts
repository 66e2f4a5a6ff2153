import { useRef, useState } from 'react'
import { keepRequest, readDraft, readRequest } from '../drafts.ts'
import { errorText, isUnanswered } from '../errors.ts'

/** Sends a message, and resolves once the server has accepted it. @param idempotencyKey The same for a message that is sent again. */
export type Send = (text: string, idempotencyKey: string) => Promise<void>

/** A message that was sent, and of which no answer says whether it arrived. */
type Unanswered = { text: string; key: string }

/**
 * Sends messages one after the other. One whose answer was lost may have arrived: sent again as it is, it arrives once, also after the page
 * was left or loaded anew.
 * @param unsent Begins the sentence about a message that the server refused.
 * @param draftOf The draft that the messages are from.
 */
export function useSending(send: Send, unsent: string, draftOf: string) {
  const name = `${draftOf}.unanswered`
  const [failure, setFailure] = useState(() => {
    const text = readRequest<Unanswered>(name)?.text
    return text !== undefined && text === readDraft(draftOf) ? LOST : ''
  })
  // A ref, because the second press of a double click comes before anything is drawn.
  const isSending = useRef(false)

  /** Returns true once the message is accepted. Does nothing while another one is on its way. */
  async function post(text: string): Promise<boolean> {
    if (isSending.current) return false
    isSending.current = true
    setFailure('')
    const last = readRequest<Unanswered>(name)
    const key = last?.text === text ? last.key : crypto.randomUUID()
    // Before it is sent: the page may go before there is an answer.
    keepRequest(name, { text, key })
    const forget = () => {
      if (readRequest<Unanswered>(name)?.key === key) keepRequest(name, undefined)
    }
    try {
      await send(text, key)
      forget()
      return true
    } catch (error) {
      if (!isUnanswered(error)) forget()
      setFailure(isUnanswered(error) ? LOST : `${unsent} ${errorText(error)}`)
      return false
    } finally {
      isSending.current = false
    }
  }

  /** Takes in that another text is written: the same one, written later, is another message. */
  function noteTyped(text: string): void {
    const last = readRequest<Unanswered>(name)
    if (last !== undefined && last.text !== text && !isSending.current) keepRequest(name, undefined)
  }
  return { post, noteTyped, failure, setFailure }
}

const LOST = 'No answer came: the message may have arrived. Send it again as it is, and it still arrives only once.'
