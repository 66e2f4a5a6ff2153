import { type LookUp, type Model, type ModelEvent, parseJson } from '@countersign/core'
import type { Redactor } from '@countersign/toolkit'
import { cutMessage } from './errors.ts'

/** Wraps a model so that its events contain no configured secret: it received one in a header, and may repeat it. */
export const redactModel = (model: Model, redactor: Redactor): Model => ({
  id: model.id,
  async *stream(request) {
    const text = redactor.pieces()
    const reasoning = redactor.pieces()
    let said: 'text' | 'reasoning' | undefined
    for await (const event of model.stream(request)) {
      // Held-back text of one kind is emitted before any other event.
      if (said !== undefined && event.type !== said) yield* rest(said, (said === 'text' ? text : reasoning).end())
      said = event.type === 'text' || event.type === 'reasoning' ? event.type : undefined
      if (event.type === 'text') yield* rest('text', text.take(event.delta))
      else if (event.type === 'reasoning') yield* rest('reasoning', reasoning.take(event.delta))
      else yield redactEvent(event, redactor)
    }
    if (said !== undefined) yield* rest(said, (said === 'text' ? text : reasoning).end())
  },
})

const rest = (type: 'text' | 'reasoning', delta: string): ModelEvent[] => (delta === '' ? [] : [{ type, delta }])

function redactEvent(event: Exclude<ModelEvent, { delta: string }>, redactor: Redactor): ModelEvent {
  switch (event.type) {
    case 'tool_call_start':
      return { ...event, name: redactor.text(event.name), ...callId(event, redactor) }
    case 'tool_call':
      return { ...event, name: redactor.text(event.name), ...callId(event, redactor), argumentsText: argumentsText(event, redactor) }
    case 'look_ups':
      return { ...event, lookUps: redactor.json(event.lookUps) as LookUp[] }
    case 'restart':
      return event
    case 'error':
      return { ...event, message: cutMessage(redactor.text(event.message)) }
    case 'finish': {
      const { providerData, ...finish } = event
      if (providerData === undefined) return finish
      // This data returns verbatim and may be signed: with a part redacted it is useless, and no provider needs it.
      const isClean = JSON.stringify(redactor.json(providerData)) === JSON.stringify(providerData)
      return isClean ? event : finish
    }
  }
}

const callId = ({ providerCallId }: { providerCallId?: string }, redactor: Redactor) =>
  providerCallId === undefined ? {} : { providerCallId: redactor.text(providerCallId) }

/** Redacts parsed JSON where the text is JSON, because a letter may be written as `\u0061` there. */
function argumentsText({ argumentsText: text }: { argumentsText: string }, redactor: Redactor): string {
  const parsed = parseJson(text)
  if (!parsed.ok) return redactor.text(text)
  const before = JSON.stringify(parsed.value)
  const after = JSON.stringify(redactor.json(parsed.value))
  return after === before ? text : after
}
