import type { ModelMessage, ModelTool, ToolOutcome } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { callsOf, collect, textOf } from './testing/collect.ts'
import { modelFor, type RecordedApi } from './testing/recordings.ts'
import { startReplayServer } from './testing/replay-server.ts'
import { speak } from './testing/speak.ts'
import { countCalls, historyProblems } from './testing/strict-history.ts'

// A conversation moves from every provider to every other one and back: the history must be valid for each provider.

const APIS: readonly { api: RecordedApi; vendor: string; model: string }[] = [
  { api: 'openai-chat', vendor: 'OpenAI', model: 'm' },
  { api: 'openai-chat', vendor: 'Mistral', model: 'm' },
  { api: 'openai-responses', vendor: 'OpenAI', model: 'm' },
  { api: 'anthropic-messages', vendor: 'Anthropic', model: 'm' },
  // This generation requires a signature on the calls of the current turn, whichever model made them.
  { api: 'google-generateContent', vendor: 'Google', model: 'gemini-3-pro-preview' },
]

const TOOLS: ModelTool[] = [
  { name: 'refund', description: 'Give money back', inputSchema: { type: 'object', properties: { orderId: { type: 'string' } } } },
]

/** All possible outcomes of a call, in an order that no provider would choose. */
const OUTCOMES: ToolOutcome[] = [
  { type: 'declined', reason: 'not that one' },
  { type: 'edited', argumentsRun: { orderId: 'ORD-9' }, by: 'Ana', outcome: { type: 'output', value: { done: true } } },
  { type: 'error', message: 'the shop answered 422' },
  { type: 'outcome_unknown', message: 'the connection broke' },
  { type: 'output', value: 'done' },
]

const speech = (who: string) => ({
  text: `${who} says`,
  signature: `c2lnbmVkIGJ5${who}`,
  calls: OUTCOMES.map((_, index) => ({
    id: 'functions.refund:0',
    name: 'refund',
    argumentsText: JSON.stringify({ orderId: `ORD-${index}` }),
  })),
})

for (const from of APIS) {
  for (const to of APIS) {
    if (from === to) continue
    test(`from ${from.vendor} (${from.api}) to ${to.vendor} (${to.api}) and back, with all that can come of a call`, async () => {
      await using server = await startReplayServer()
      const sides = await Promise.all(
        [from, to].map(async (who, index) => {
          const name = index === 0 ? 'A' : 'B'
          const replay = server.play(Array.from({ length: 3 }, () => speak(who.api, speech(name))))
          const { spec, settings } = modelFor(who, replay.baseUrl)
          return { ...who, name, replay, spec: `${spec}`, model: await openModel(spec, settings) }
        }),
      )
      const messages: ModelMessage[] = [{ role: 'user', content: 'Refund them' }]
      // The first model, the other one, the first again, and the other one after a user message.
      for (const [step, index] of [0, 1, 0, 1].entries()) {
        const side = sides[index]
        if (!side) throw new Error('there are two sides')
        if (step === 3) messages.push({ role: 'user', content: 'And now?' })
        const events = await collect(side.model, { messages: [...messages], tools: TOOLS, instructions: 'Be brief.' })
        const finish = events.at(-1)
        if (finish?.type !== 'finish') throw new Error(JSON.stringify(finish))
        const toolCalls = callsOf(events).map((call, nth) => ({
          id: `call_${step}_${nth}`,
          name: call.name,
          arguments: JSON.parse(call.argumentsText),
        }))
        expect(toolCalls).toHaveLength(OUTCOMES.length)
        messages.push({
          role: 'assistant',
          content: textOf(events),
          toolCalls,
          model: side.model.id,
          ...(finish.providerData !== undefined && { providerData: finish.providerData }),
        })
        for (const [nth, outcome] of OUTCOMES.entries()) {
          messages.push({ role: 'tool', toolCallId: `call_${step}_${nth}`, toolName: 'refund', outcome })
        }

        const body = side.replay.requests.at(-1)?.body
        expect(historyProblems(side.api, body), `step ${step + 1}`).toEqual([])
        expect(countCalls(side.api, body)).toBe(step * OUTCOMES.length)
        const sent = JSON.stringify(body)
        // One provider's signatures are hidden from the others, and return to it verbatim.
        expect(sent).not.toContain(speech(index === 0 ? 'B' : 'A').signature)
        if (step >= 2 && !side.spec.startsWith('openai-chat/')) expect(sent).toContain(speech(side.name).signature)
        if (side.api === 'google-generateContent') expect(unsignedSteps(body)).toEqual([])
      }
    })
  }
}

/** Returns the contents of a Gemini request whose first call has no signature. */
function unsignedSteps(body: unknown): unknown[] {
  const { contents } = body as { contents: { parts: { functionCall?: object; thoughtSignature?: string }[] }[] }
  return contents.filter(({ parts }) => {
    const first = parts.find((part) => part.functionCall)
    return first !== undefined && first.thoughtSignature === undefined
  })
}
