import { randomUUID } from 'node:crypto'
import { DBOS, type WorkflowHandle } from '@dbos-inc/dbos-sdk'
import type { Place, System, Verdicts } from '../adapter.ts'
import { answerTo, callsFor } from '../script.ts'

const ASKED = 'asked'
const DECISION = 'decision'
const WAIT_SECONDS = 86_400

/** The workflow of the documentation's human-in-the-loop page: an event when it waits, a message with the decision, a step for each call. */
const registerConversation = (place: Place) =>
  DBOS.registerWorkflow(
    async (message: string): Promise<string> => {
      const calls = await DBOS.runStep(async () => callsFor(message), { name: 'model' })
      await DBOS.setEvent(ASKED, calls)
      const verdicts = await DBOS.recv<Verdicts>(DECISION, { timeoutSeconds: WAIT_SECONDS })
      const results: string[] = []
      for (const call of calls) {
        const isApproved = verdicts?.[call.orderId] === 'approve'
        results.push(isApproved ? await DBOS.runStep(() => place.effect(call), { name: 'tool' }) : 'A person declined this call.')
      }
      return await DBOS.runStep(async () => answerTo(results.length), { name: 'model' })
    },
    { name: 'conversation' },
  )

const silent = { info: () => {}, debug: () => {}, warn: () => {}, error: (text: unknown) => console.error(text) }

export async function open(place: Place): Promise<System> {
  // A version by hand: the default is a hash of the code, and recovery takes only workflows of the same version.
  DBOS.setConfig({ name: 'peers', systemDatabaseUrl: place.url, applicationVersion: '1', logger: silent, systemDatabasePoolSize: 32 })
  const conversation = registerConversation(place)
  await DBOS.launch()
  // The handle of the process that runs the workflow resolves at once; one that is retrieved polls each second.
  const handles = new Map<string, WorkflowHandle<string>>()
  return {
    async start(message) {
      const workflowID = randomUUID()
      handles.set(workflowID, await DBOS.startWorkflow(conversation, { workflowID })(message))
      const asked = await DBOS.getEvent(workflowID, ASKED)
      if (asked === null) throw new Error('the workflow did not ask')
      return workflowID
    },
    decide: (sessionId, verdicts) => DBOS.send(sessionId, verdicts, DECISION),
    finish: (sessionId) => (handles.get(sessionId) ?? DBOS.retrieveWorkflow<string>(sessionId)).getResult(),
    async recover(sessionId) {
      // `launch` has started it again already.
      await DBOS.retrieveWorkflow<string>(sessionId).getResult()
      return 'the workflow continued by itself'
    },
    close: () => DBOS.shutdown(),
  }
}
