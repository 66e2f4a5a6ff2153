import { type LookUp, type Model, type ModelEvent, parseJson } from '@countersign/core'
import type { Redactor } from '@countersign/toolkit'

/** A model whose events hold no secret of ours: it was sent one in a header, and may say it. */
export const redactModel = (model: Model, redactor: Redactor): Model => ({
  id: model.id,
  async *stream(request) {
    const text = redactor.pieces()
    const reasoning = redactor.pieces()
    let said: 'text' | 'reasoning' | undefined
    for await (const event of model.stream(request)) {
      // What is held back of one kind goes out before anything else does.
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
      return { ...event, message: redactor.text(event.message) }
    case 'finish': {
      const { providerData, ...finish } = event
      if (providerData === undefined) return finish
      // It goes back word for word and may be signed: with a word missing it is worth nothing, and no provider needs it.
      const isClean = JSON.stringify(redactor.json(providerData)) === JSON.stringify(providerData)
      return isClean ? event : finish
    }
  }
}

const callId = ({ providerCallId }: { providerCallId?: string }, redactor: Redactor) =>
  providerCallId === undefined ? {} : { providerCallId: redactor.text(providerCallId) }

/** Read and written anew where it is JSON: there a letter may be spelled `\u0061`. */
function argumentsText({ argumentsText: text }: { argumentsText: string }, redactor: Redactor): string {
  const parsed = parseJson(text)
  if (!parsed.ok) return redactor.text(text)
  const before = JSON.stringify(parsed.value)
  const after = JSON.stringify(redactor.json(parsed.value))
  return after === before ? text : after
}
