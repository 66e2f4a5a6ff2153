import { useRef, useState } from 'react'
import { errorText, isUnanswered } from '../errors.ts'

/** Sends a message, and resolves once the server has accepted it. @param idempotencyKey The same for a message that is sent again. */
export type Send = (text: string, idempotencyKey: string) => Promise<void>

/**
 * Sends messages one after the other. One whose answer was lost may have arrived: sent again as it is, it arrives once.
 * @param unsent Begins the sentence about a message that the server refused.
 */
export function useSending(send: Send, unsent: string) {
  const [failure, setFailure] = useState('')
  // A ref, because the second press of a double click comes before anything is drawn.
  const isSending = useRef(false)
  const lost = useRef<{ text: string; key: string }>(undefined)

  /** Returns true once the message is accepted. Does nothing while another one is on its way. */
  async function post(text: string): Promise<boolean> {
    if (isSending.current) return false
    isSending.current = true
    setFailure('')
    const key = lost.current?.text === text ? lost.current.key : crypto.randomUUID()
    try {
      await send(text, key)
      lost.current = undefined
      return true
    } catch (error) {
      lost.current = isUnanswered(error) ? { text, key } : undefined
      setFailure(lost.current ? LOST : `${unsent} ${errorText(error)}`)
      return false
    } finally {
      isSending.current = false
    }
  }
  return { post, failure, setFailure }
}

const LOST = 'No answer came: the message may have arrived. Send it again as it is, and it still arrives only once.'
