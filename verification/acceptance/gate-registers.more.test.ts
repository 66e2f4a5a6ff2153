import { expect, test } from 'vitest'
import { createClient, gate } from '../../packages/client/src/index.ts'
import { FRAMEWORKS } from '../testing/gate-frameworks.ts'
import { openGateServer, openLedger } from '../testing/gate-server.ts'
import { startTestServer } from '../testing/test-server.ts'

const input = { type: 'object', properties: { order: { type: 'string' }, status: { type: 'string' } }, required: ['order', 'status'] }
const CALL = { id: 'call_1', name: 'setStatus', args: { order: 'ORD-1', status: 'shipped' } } as const

test.each(Object.entries(FRAMEWORKS))(
  '%s: a server that declares no tool learns them from the agent, and an approved one runs once',
  async (name, run) => {
    await using server = await startTestServer({ config: {} })
    const { key } = await server.makeKey({ name: 'order bot', kind: 'agent', agent: 'orders', roles: ['agent'] })
    const client = createClient({ baseUrl: server.url, key })
    const ledger = openLedger()
    const register = name === 'functions' ? { setStatus: { input, description: 'Sets the status of an order.' } } : (true as const)
    using inbox = await server.admin.stream('/api/events')
    const running = run(client, ledger, [CALL], { register })
    const { proposal } = await inbox.next('action_proposed')
    expect(proposal).toMatchObject({
      tool: 'setStatus',
      executor: 'client',
      effect: 'write',
      preview: [{ newValue: 'Sets the status of an order.', unverified: true }],
    })
    await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
    expect(await running).toEqual({ call_1: '{"done":"shipped"}' })
    expect(ledger.ran).toEqual([CALL.args])
  },
)

test('what the configuration declares stays as it is there, whatever the agent says', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const { setStatus } = gate(
    desk.client,
    { setStatus: ledger.setStatus },
    { register: { setStatus: { input, effect: 'read', describe: 'Nothing' } } },
  )
  const answering = setStatus(CALL.args)
  const action = await desk.nextWaiting()
  expect(action).toMatchObject({ description: 'Set ORD-1 to shipped', preview: null })
  await desk.decide(action, 'decline')
  expect((await answering).status).toBe('declined')
  expect(ledger.ran).toEqual([])
})

test('a function without a schema is refused before anything is asked', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await expect(gate(desk.client, { setStatus: ledger.setStatus }, { register: true }).setStatus(CALL.args)).rejects.toThrow('has no schema')
  expect(await desk.all()).toEqual([])
})
