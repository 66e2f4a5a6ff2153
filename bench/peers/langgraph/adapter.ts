import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { type BaseCheckpointSaver, Command, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import type { Place, System, Verdicts } from '../adapter.ts'
import { answerTo, type Call, callsFor, TOOL } from '../script.ts'

type State = typeof MessagesAnnotation.State

const isUnanswered = (messages: State['messages']) => {
  const answered = new Set(messages.filter(ToolMessage.isInstance).map((message) => message.tool_call_id))
  return messages.filter(AIMessage.isInstance).flatMap((message) => (message.tool_calls ?? []).filter(({ id }) => !answered.has(id ?? '')))
}

/** The scripted model as a node. */
function callModel({ messages }: State): Partial<State> {
  const results = messages.filter(ToolMessage.isInstance).length
  if (results > 0) return { messages: [new AIMessage(answerTo(results))] }
  const calls = callsFor(messages[0]?.text ?? '')
  const toolCalls = calls.map((call) => ({ id: call.orderId, name: TOOL.name, args: { ...call }, type: 'tool_call' as const }))
  return { messages: [new AIMessage({ content: '', tool_calls: toolCalls })] }
}

/** Asks about all calls of the step, and answers the declined ones. */
function askPerson({ messages }: State): Partial<State> {
  const calls = isUnanswered(messages)
  const verdicts = interrupt<unknown, Verdicts>({ calls: calls.map(({ args }) => args) })
  const declined = calls.filter(({ args }) => verdicts[String(args.orderId)] !== 'approve')
  return { messages: declined.map(({ id }) => new ToolMessage({ content: 'A person declined this call.', tool_call_id: id ?? '' })) }
}

/** The graph of the documentation's human-in-the-loop chapter: model, interrupt, tools, model. */
function compile(place: Place, checkpointer: BaseCheckpointSaver) {
  const runTools = async ({ messages }: State): Promise<Partial<State>> => {
    const results: ToolMessage[] = []
    for (const { id, args } of isUnanswered(messages)) {
      results.push(new ToolMessage({ content: await place.effect(args as unknown as Call), tool_call_id: id ?? '' }))
    }
    return { messages: results }
  }
  return new StateGraph(MessagesAnnotation)
    .addNode('model', callModel)
    .addNode('person', askPerson)
    .addNode('tools', runTools)
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => (isUnanswered(messages).length > 0 ? 'person' : END))
    .addEdge('person', 'tools')
    .addEdge('tools', 'model')
    .compile({ checkpointer })
}

async function openSaver(place: Place): Promise<{ saver: BaseCheckpointSaver; close(): Promise<void> }> {
  if (place.database === 'postgres') {
    const saver = PostgresSaver.fromConnString(place.url)
    await saver.setup()
    return { saver, close: () => saver.end() }
  }
  const saver = SqliteSaver.fromConnString(join(place.folder, 'langgraph.db'))
  // The saver sets WAL, and better-sqlite3 is built with synchronous=NORMAL for WAL, which syncs only at a checkpoint.
  saver.db.pragma('synchronous = FULL')
  return { saver, close: async () => void saver.db.close() }
}

export async function open(place: Place): Promise<System> {
  const { saver, close } = await openSaver(place)
  const graph = compile(place, saver)
  const answers = new Map<string, string>()
  const configOf = (sessionId: string) => ({ configurable: { thread_id: sessionId } })
  const resume = async (sessionId: string, input: Parameters<typeof graph.invoke>[0]): Promise<void> => {
    const { messages } = (await graph.invoke(input, configOf(sessionId))) as State
    answers.set(sessionId, messages.at(-1)?.text ?? '')
  }
  return {
    async start(message) {
      const id = randomUUID()
      await graph.invoke({ messages: [new HumanMessage(message)] }, configOf(id))
      return id
    },
    decide: (sessionId, verdicts) => resume(sessionId, new Command({ resume: verdicts })),
    finish: async (sessionId) => answers.get(sessionId) ?? '',
    async recover(sessionId, verdicts) {
      const { next, tasks } = await graph.getState(configOf(sessionId))
      const isAsking = tasks.some(({ interrupts }) => interrupts.length > 0)
      await resume(sessionId, isAsking ? new Command({ resume: verdicts }) : null)
      return isAsking ? 'the session asked again' : `the run continued with ${next.join(', ')}`
    },
    close,
  }
}
