import { thoughtsOf } from './page-messages.ts'
import type { AgUiWriterOptions } from './turn-writer.ts'

/** Writes the texts and the thoughts of a turn, one message after the other. Messages that the client has are left out. */
export interface TextWriter {
  think(messageId: string, delta: string): void
  say(messageId: string, delta: string): void
  /** Ends a message with its whole text. A page that was sent another beginning gets its messages anew. */
  complete(messageId: string, content: string): void
  /** Takes back the part of an answer that was sent, because the answer begins anew. */
  takeBack(messageId: string): void
  /** Ends the message that is open. */
  close(): void
}

export function createTextWriter({ send, known, page }: Pick<AgUiWriterOptions, 'send' | 'known' | 'page'>): TextWriter {
  let openThoughts: string | undefined
  let openText: { messageId: string; said: string } | undefined

  function closeThoughts(): void {
    if (openThoughts === undefined) return
    send({ type: 'REASONING_MESSAGE_END', messageId: openThoughts })
    send({ type: 'REASONING_END', messageId: openThoughts })
    openThoughts = undefined
  }

  function close(): void {
    closeThoughts()
    if (openText && openText.said !== '') send({ type: 'TEXT_MESSAGE_END', messageId: openText.messageId })
    openText = undefined
  }

  function think(messageId: string, delta: string): void {
    const id = thoughtsOf(messageId)
    if (known.messageIds.has(messageId) || known.messageIds.has(id) || delta === '') return
    if (openThoughts !== id) {
      close()
      openThoughts = id
      send({ type: 'REASONING_START', messageId: id })
      send({ type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' })
    }
    send({ type: 'REASONING_MESSAGE_CONTENT', messageId: id, delta })
  }

  function say(messageId: string, delta: string): void {
    if (known.messageIds.has(messageId) || delta === '') return
    if (openText?.messageId !== messageId || openThoughts !== undefined) {
      close()
      openText = { messageId, said: '' }
    }
    if (openText.said === '') send({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    openText.said += delta
    send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
  }

  function takeBack(messageId: string): void {
    if (known.messageIds.has(messageId)) return
    close()
    const messages = page.takeBack(messageId)
    if (messages) send({ type: 'MESSAGES_SNAPSHOT', messages })
  }

  function complete(messageId: string, content: string): void {
    const said = openText?.messageId === messageId ? openText.said : ''
    const goesOn = content.startsWith(said)
    if (!goesOn) takeBack(messageId)
    say(messageId, goesOn ? content.slice(said.length) : content)
    close()
  }

  return { think, say, complete, takeBack, close }
}
