import { expect, test } from 'vitest'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { type AgUiMessage, openHttpAgent } from '../testing/ag-ui-agent.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

type Page = Awaited<ReturnType<typeof openHttpAgent>>

const say = ({ agent }: Page, id: string, content: string) => {
  agent.addMessage({ id, role: 'user', content })
  return agent.runAgent()
}

const approve = ({ agent }: Page) =>
  agent.runAgent({
    resume: agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload: { approved: true } })),
  })

const linesOf = (messages: readonly AgUiMessage[]) =>
  messages.map(({ role, content, toolCalls = [] }) => {
    const calls = toolCalls.map((call) => `${call.function.name} ${JSON.stringify(JSON.parse(call.function.arguments))}`)
    return `${role}: ${[content, ...calls].filter(Boolean).join(' ')}`
  })

/** Fails where a message is there twice, a call or its result is, or one of both without the other. */
function expectWhole({ agent: { messages } }: Page): void {
  const ids = messages.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)])
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))
  // Calls that run at the same time end in any order.
  expect(messages.flatMap(({ toolCallId }) => toolCallId ?? []).sort()).toEqual(calls.toSorted())
  expect(calls).toEqual([...new Set(calls)])
}

const TURNS = 104

/** Each fourth turn is a write: it waits, and is approved. */
const scriptOf = (): ScriptStep[] =>
  Array.from({ length: TURNS }, (_, n): ScriptStep[] =>
    n % 4 === 3 ? [{ calls: [{ tool: 'keyed', arguments: { what: `x${n}` } }] }, { text: `Answer ${n}.` }] : [{ text: `Answer ${n}.` }],
  ).flat()

const told = (n: number): string[] => [
  `user: Question ${n}`,
  ...(n % 4 === 3 ? [`assistant: keyed {"what":"x${n}"}`, 'tool: {"id":4}'] : []),
  `assistant: Answer ${n}.`,
]

test('two tabs take turns on one thread of more than 200 messages, and what one asks the other approves: both show all of it, and nothing is there twice', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  await using server = await startTestServer({
    config: { tools: toolsOf(target), agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } } },
    scripts: { desk: scriptOf() },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  const tabs = [await openHttpAgent(server.url, key), await openHttpAgent(server.url, key)] as const
  const all: string[] = []
  for (let n = 0; n < TURNS; n++) {
    const [speaker, other] = n % 2 === 0 ? tabs : ([tabs[1], tabs[0]] as const)
    await say(speaker, `u${n}`, `Question ${n}`)
    if (n % 4 === 3) {
      expect(speaker.agent.pendingInterrupts).toHaveLength(1)
      await other.agent.runAgent()
      expect(other.agent.pendingInterrupts).toEqual(speaker.agent.pendingInterrupts)
      // Both click, and the second one comes late or at the same time.
      await Promise.all([approve(other), approve(speaker)])
    }
    all.push(...told(n))
  }
  expect(all.length).toBeGreaterThan(200)
  expect(target.writes.map(({ body }) => body)).toEqual(
    Array.from({ length: TURNS }, (_, n) => ({ what: `x${n}` })).filter((_, n) => n % 4 === 3),
  )
  for (const tab of [...tabs, await openHttpAgent(server.url, key)]) {
    await tab.agent.runAgent()
    expectWhole(tab)
  }
  for (const tab of tabs) expect(linesOf(tab.agent.messages)).toEqual(all)
})

test('a snapshot that would begin among the results of a call begins after them: no result is there without its call', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const looks = { calls: [1, 2, 3, 4].map((n) => ({ tool: 'look', arguments: { what: `x${n}` } })) }
  await using server = await startTestServer({
    config: {
      tools: toolsOf(target),
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
      policy: { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] },
    },
    scripts: { desk: Array.from({ length: 30 }, () => [looks, { text: 'Seen.' }]).flat() },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  const tab = await openHttpAgent(server.url, key)
  for (let n = 0; n < 30; n++) await say(tab, `u${n}`, 'Look')
  const late = await openHttpAgent(server.url, key)
  await late.agent.runAgent()
  expectWhole(late)
  // The results at the beginning are left out, with their call: an answer comes first.
  expect(linesOf(late.agent.messages).slice(0, 2)).toEqual(['assistant: Seen.', 'user: Look'])
  expect(linesOf(late.agent.messages).slice(-7)).toEqual(linesOf(tab.agent.messages).slice(-7))
})
