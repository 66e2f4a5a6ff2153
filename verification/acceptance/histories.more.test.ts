import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { countCalls, historyProblems } from '../../packages/server/src/models/testing/strict-history.ts'
import { settled } from '../testing/decisions.ts'
import { orderTools, startOrders } from '../testing/orders.ts'
import { PROVIDERS, providerEnvironment } from '../testing/providers.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const args = (what: string) => JSON.stringify({ what })

for (const { model, api } of PROVIDERS) {
  for (const order of ['approved first', 'declined first'] as const) {
    test(`with ${model}, two calls of one step, one approved and one declined (${order}), make a history that the provider takes`, async () => {
      await using target = await startTarget(() => ({ status: 200, body: { id: 8 } }))
      await using providers = await startReplayServer()
      const { baseUrl, requests } = providers.play([
        speak(api, {
          text: 'Two things.',
          calls: [
            { id: 'call_1', name: 'keyed', argumentsText: args('x') },
            { id: 'call_2', name: 'unkeyed', argumentsText: args('y') },
          ],
        }),
        speak(api, { text: 'One of two.' }),
        speak(api, { text: 'Anything else?' }),
      ])
      await using server = await startTestServer({
        config: { agents: { desk: { model, tools: ['*'], instructions: 'Be brief.' } }, tools: toolsOf(target) },
        environment: providerEnvironment(baseUrl),
      })
      const { admin } = server
      using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
      const { sessionId } = await stream.next('session')
      const first = (await stream.next('action_proposed')).proposal
      const second = (await stream.next('action_proposed')).proposal
      const approve = async () => {
        await admin.post(`/api/actions/${first.id}/decision`, { verdict: 'approve' })
        await admin.get(`/api/actions/${first.id}?wait=60&until=settled`)
      }
      const decline = () => admin.post(`/api/actions/${second.id}/decision`, { verdict: 'decline', reason: 'not that one' })
      const steps = order === 'approved first' ? [approve, decline] : [decline, approve]
      for (const step of steps) {
        expect(requests, 'the model waits for both').toHaveLength(1)
        await step()
      }
      await stream.next('message', (data) => data.message.content === 'One of two.')
      await stream.ended()
      using again = await admin.stream('/api/chat', { body: { sessionId, message: 'thanks' } })
      await again.ended()

      expect(requests).toHaveLength(3)
      for (const { body } of requests.slice(1)) {
        expect(historyProblems(api, body)).toEqual([])
        expect(countCalls(api, body)).toBe(2)
        const told = JSON.stringify(body)
        expect(told).toContain('not that one')
        expect(told.match(/not that one/g)).toHaveLength(1)
      }
      expect(target.writes.map(({ path }) => path)).toEqual(['/keyed'])
    })
  }

  test(`with ${model}, refused, failed, unknown, cancelled and repeated calls all end in one result each`, async () => {
    await using target = await startTarget(({ body }) => {
      const what = body === undefined ? 'ok' : (body as { what: string }).what
      if (what === 'lose') return 'reset'
      return what === 'fail' ? { status: 409, body: { error: 'no' } } : { status: 200, body: { id: 8 } }
    })
    await using providers = await startReplayServer()
    // Every step reuses the ids of the step before it, as some providers do.
    const steps = [
      [
        { id: 'call_1', name: 'nothing_like_it', argumentsText: '{}' },
        { id: 'call_2', name: 'keyed', argumentsText: '{"what":1}' },
      ],
      [
        { id: 'call_1', name: 'look', argumentsText: args('ok') },
        { id: 'call_2', name: 'keyed', argumentsText: args('fail') },
        { id: 'call_3', name: 'unkeyed', argumentsText: args('lose') },
      ],
      [
        { id: 'call_1', name: 'keyed', argumentsText: args('ok') },
        { id: 'call_2', name: 'keyed', argumentsText: args('ok') },
      ],
    ]
    const { baseUrl, requests } = providers.play([...steps.map((calls) => speak(api, { calls })), speak(api, { text: 'Hello again.' })])
    await using server = await startTestServer({
      config: { agents: { desk: { model, tools: ['*'] } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    const { admin } = server
    using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    const path = `/api/sessions/${sessionId}`
    await stream.next('session_status', (data) => data.pendingApprovals.length === 2)
    // Command words count only one second after the actions were shown.
    const say = async () => (await admin.post(`${path}/messages`, { content: 'approve all' })).decided
    await expect.poll(say).toHaveLength(2)
    await stream.next('action_update', (data) => data.state === 'outcome_unknown')
    // "approve all" also covers the third step: its calls run, and the fourth answer ends the run.
    await stream.next('message', (data) => data.message.content === 'Hello again.')
    await stream.ended()

    const { items } = await admin.get(`/api/actions?session=${sessionId}`)
    expect(items.map(({ state }: Action) => state).reverse()).toEqual(['succeeded', 'failed', 'outcome_unknown', 'succeeded', 'succeeded'])
    expect(new Set(items.map(({ toolCallId }: Action) => toolCallId)).size).toBe(5)
    for (const [index, { body }] of requests.entries()) {
      expect(historyProblems(api, body), `request ${index + 1}`).toEqual([])
      expect(countCalls(api, body)).toBe([0, 2, 5, 7][index])
    }
  })
}

const SIGNATURE = 'c2lnbmVkIHRob3VnaHRz'
const order = (id: string) => JSON.stringify({ id, status: 'paid' })

for (const { model, api } of PROVIDERS) {
  test(`with ${model}, what was edited, edited and declined, and asked again makes a history that the provider takes, its own calls untouched`, async () => {
    await using orders = await startOrders()
    await using providers = await startReplayServer()
    const calls = ['o1', 'o2', 'o3', 'o4'].map((id, i) => ({
      id: `call_${i}`,
      name: id === 'o3' ? 'setGuarded' : 'set',
      argumentsText: order(id),
    }))
    const { baseUrl, requests } = providers.play([
      speak(api, { text: 'Four things.', calls, signature: SIGNATURE }),
      speak(api, { text: 'All four are told.' }),
    ])
    await using server = await startTestServer({
      config: { agents: { desk: { model, tools: ['*'] } }, tools: orderTools(orders) },
      environment: providerEnvironment(baseUrl),
    })
    const { admin } = server
    using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
    const asked: Action[] = []
    for (const _ of calls) asked.push((await stream.next('action_proposed')).proposal)
    const [edited, declined, raced, editedLate] = asked as [Action, Action, Action, Action]
    const decide = ({ id, revision, digest }: Action, body: object): Promise<Action> =>
      admin.post(`/api/actions/${id}/decision`, { revision, digest, ...body })
    const now = ({ id }: Action): Promise<Action> => admin.get(`/api/actions/${id}`)

    await decide(edited, { verdict: 'approve', arguments: { id: 'o1', status: 'shipped' } })
    // Its write is over before another one is disturbed.
    await settled(server, edited.id)
    // Goes back for approval because the target changed before execution, and is then declined.
    orders.order('o2', { status: 'cancelled' })
    await decide(declined, { verdict: 'approve' })
    await stream.next('action_update', (data) => data.proposalId === declined.id && data.revision === 2)
    await decide(await now(declined), { verdict: 'decline', reason: 'not that one' })
    // Goes back for approval because the service refused a write based on a stale value.
    orders.beforeWrite = (id) => {
      orders.beforeWrite = undefined
      orders.order(id, { status: 'shipped' })
    }
    await decide(raced, { verdict: 'approve' })
    await stream.next('action_update', (data) => data.proposalId === raced.id && data.revision === 2)
    await decide(await now(raced), { verdict: 'approve' })
    // Edited after its target had changed, and then declined.
    orders.order('o4', { status: 'shipped' })
    const late = await decide(editedLate, { verdict: 'approve', arguments: { id: 'o4', status: 'cancelled' } })
    expect(late).toMatchObject({ state: 'proposed', revision: 2 })
    expect(requests, 'the model waits for all').toHaveLength(1)
    await decide(late, { verdict: 'decline', reason: 'nor that' })
    await stream.next('message', (data) => data.message.content === 'All four are told.')

    const { body } = requests[1] ?? {}
    expect(historyProblems(api, body)).toEqual([])
    expect(countCalls(api, body)).toBe(4)
    const told = JSON.stringify(body).replaceAll('\\', '')
    if (api !== 'openai-chat') expect(told).toContain(SIGNATURE)
    for (const said of ['"id":"o1","status":"paid"', '"arguments_run":{"id":"o1","status":"shipped"}', 'not that one', 'nor that']) {
      expect(told.split(said), said).toHaveLength(2)
    }
    expect(told).not.toMatch(/"arguments_run":\{"id":"o[234]"/)
    expect(orders.done.map(({ id, from, to }) => `${id} ${from} ${to}`)).toEqual(['o1 pending shipped', 'o3 shipped paid'])
  })
}

test('with every provider, a cancelled run leaves a history that the next message can go on with', async () => {
  for (const { model, api } of PROVIDERS) {
    await using target = await startTarget(() => ({ status: 200 }))
    await using providers = await startReplayServer()
    const { baseUrl, requests } = providers.play([
      speak(api, { text: 'Hm.', calls: [{ id: 'call_1', name: 'keyed', argumentsText: args('x') }] }),
      speak(api, { text: 'Hello again.' }),
    ])
    await using server = await startTestServer({
      config: { agents: { desk: { model, tools: ['*'] } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    await stream.next('session_status', (data) => data.status === 'waiting_approval')
    await server.admin.post(`/api/sessions/${sessionId}/cancel`)
    await stream.ended()
    using again = await server.admin.stream('/api/chat', { body: { sessionId, message: 'hello' } })
    await again.next('message', (data) => data.message.content === 'Hello again.')
    expect(historyProblems(api, requests[1]?.body), model).toEqual([])
    expect(countCalls(api, requests[1]?.body), model).toBe(1)
  }
})
