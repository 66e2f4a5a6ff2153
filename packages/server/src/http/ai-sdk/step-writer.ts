import type { Chunk } from './chunks.ts'

/** Writes the steps of a message, each with the text and the thoughts of one model call. Parts that the client has are left out. */
export interface StepWriter {
  /** True while the client has the open step. */
  readonly isKnown: boolean
  readonly hasBegun: boolean
  /** Opens the step of this stored message and closes the one before, unless it is the open one. */
  open(messageId: string): void
  say(type: 'text' | 'reasoning', delta: string): void
  /** Says the next piece of an answer. @param restart True when the model begins it anew. */
  add(content: string, restart?: boolean): void
  /** Says what is missing of a whole answer: what was streamed before may be a part of it only, or none. */
  complete(content: string): void
  closeText(): void
  close(): void
}

/** @param known How many steps the client has. */
export function createStepWriter(send: (chunk: Chunk) => void, known: number): StepWriter {
  const steps = new Set<string>()
  let openStep: { id: string; isKnown: boolean } | undefined
  let openText: { type: 'text' | 'reasoning'; id: string } | undefined
  let said = ''

  const isKnown = () => openStep?.isKnown ?? false

  function closeText(): void {
    if (openText) send({ type: `${openText.type}-end`, id: openText.id })
    openText = undefined
  }

  function close(): void {
    closeText()
    if (openStep && !openStep.isKnown) send({ type: 'finish-step' })
    openStep = undefined
    said = ''
  }

  function say(type: 'text' | 'reasoning', delta: string): void {
    if (delta === '' || isKnown() || !openStep) return
    const id = type === 'text' ? openStep.id : `${openStep.id}_thoughts`
    if (openText?.id !== id) {
      closeText()
      openText = { type, id }
      send({ type: `${type}-start`, id })
    }
    send({ type: `${type}-delta`, id, delta })
  }

  function reset(): void {
    said = ''
    if (isKnown()) return
    closeText()
    send({ type: 'reset-step' })
  }

  return {
    get isKnown() {
      return isKnown()
    },
    get hasBegun() {
      return steps.size > 0
    },
    open(messageId) {
      if (openStep?.id === messageId) return
      close()
      steps.add(messageId)
      openStep = { id: messageId, isKnown: steps.size <= known }
      if (!openStep.isKnown) send({ type: 'start-step' })
    },
    say,
    add(content, restart = false) {
      if (restart) reset()
      said += content
      say('text', content)
    },
    complete(content) {
      if (!content.startsWith(said)) reset()
      say('text', content.slice(said.length))
      said = content
      closeText()
    },
    closeText,
    close,
  }
}
