import type { KeyScope } from '@countersign/core'
import { expect, test } from 'vitest'
import { type Sender, startFinanceDesk } from '../testing/finance-desk.ts'
import { startPushService } from '../testing/push-service.ts'
import { startReceiver } from '../testing/receiver.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'
import { openWebhookDesk } from '../testing/webhook-helpers.ts'

const assign = (who: Sender, id: string, body: object) => who.send('POST', `/api/actions/${id}/assign`, { body })

test('an assignment is seen by everybody at once, recorded with who, to whom and when, and taken back', async () => {
  await using desk = await startFinanceDesk()
  const { server, ana, ben } = desk
  const { id, digest } = await desk.propose()
  using inbox = await server.admin.stream('/api/events')
  const to = { person: ben.principal.id }
  const assignment = { person: { name: 'Ben' }, by: { name: 'Ana' }, at: expect.any(String) }
  expect(await assign(ana, id, { to })).toMatchObject({ status: 200, body: { state: 'proposed', revision: 1, digest, assignment } })
  expect(await inbox.next('action_update', ({ proposalId }) => proposalId === id)).toMatchObject({ assignment })
  // Saying the same again changes nothing.
  await assign(ben, id, { to })
  expect(await assign(ben, id, { to: null, was: to })).toMatchObject({ status: 200 })
  expect(await inbox.next('action_update', ({ proposalId }) => proposalId === id)).toMatchObject({ assignment: null })
  expect(await ana.get(`/api/actions/${id}`)).not.toHaveProperty('assignment')
  await assign(ana, id, { to: { role: 'finance' } })
  const { items } = await server.admin.get(`/api/audit?action=${id}&kind=assigned`)
  expect(items).toMatchObject([
    { actor: { name: 'Ana' }, data: { to: null, role: 'finance' } },
    { actor: { name: 'Ben' }, data: { to: null, role: null } },
    { actor: { name: 'Ana' }, data: { to: ben.principal.id, role: null } },
  ])
  await server.restart()
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({ assignment: { role: 'finance', by: { name: 'Ana' } } })
})

test('an assignment gives and takes no right: the person named who lost the role cannot decide, and others who may still can', async () => {
  await using desk = await startFinanceDesk()
  const { server, ana, ben } = desk
  const [one, other] = [await desk.propose(), await desk.propose({ arguments: { what: 'y' } })]
  for (const { id } of [one, other]) await assign(ana, id, { to: { person: ben.principal.id } })
  await server.admin.send('PATCH', `/api/people/${ben.principal.id}`, { body: { roles: ['member'] } })
  // Ben still sees neither of them, and decides neither.
  expect((await ben.send('POST', `/api/actions/${one.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(404)
  expect(await ana.get(`/api/actions/${one.id}`)).toMatchObject({ state: 'proposed', assignment: { person: { name: 'Ben' } } })
  expect(await ana.post(`/api/actions/${one.id}/decision`, { verdict: 'decline' })).toMatchObject({ state: 'declined' })
  // Assigned to somebody else, it is decided by another person who may, and an edit keeps whom it is assigned to.
  const edit = { verdict: 'approve', revision: 1, digest: other.digest, arguments: { what: 'z' } }
  const edited = await ana.post(`/api/actions/${other.id}/decision`, edit)
  expect(edited).toMatchObject({ revision: 2, assignment: { person: { name: 'Ben' } } })
})

test('neither an agent nor a viewer assigns, and nobody assigns to whom may not decide or is not there', async () => {
  await using desk = await startFinanceDesk()
  const { agent, ana, ben, vera, server } = desk
  const { id } = await desk.propose()
  const to = { person: ben.principal.id }
  for (const who of [agent, vera]) expect((await assign(who, id, { to })).status).toBe(403)
  const mia = await desk.person('Mia', ['member'])
  for (const hidden of [id, 'act_none']) expect((await assign(mia, hidden, { to })).status).toBe(404)
  const refusals = []
  for (const person of [vera.principal.id, mia.principal.id, agent.principal.id, 'prn_none']) {
    const { status, body } = await assign(ana, id, { to: { person } })
    refusals.push([status, String((body as { detail: string }).detail).replace(person, 'ID')])
  }
  expect(new Set(refusals.map(String)).size, 'all are refused in the same words').toBe(1)
  expect(refusals[0]?.[0]).toBe(400)
  for (const role of ['approver', 'boss']) expect((await assign(ana, id, { to: { role } })).status).toBe(400)
  for (const body of [{}, { to: 'me' }, { to: { person: ben.principal.id, role: 'finance' } }, { to: null, by: ben.principal.id }]) {
    expect((await assign(ana, id, body)).status, JSON.stringify(body)).toBe(400)
  }
  expect((await server.admin.get(`/api/audit?action=${id}&kind=assigned`)).items).toEqual([])
  await ana.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  expect(await assign(ana, id, { to })).toMatchObject({ status: 409, body: { action: { state: 'declined' } } })
})

test('an admin’s limited key assigns what its person has no vote on only with the scope manage', async () => {
  await using desk = await startFinanceDesk()
  const { server, ben } = desk
  const { id } = await desk.propose()
  const boss = await desk.person('Bo', ['admin'])
  const limited = async (...scopes: KeyScope[]) => {
    const { key } = await server.makeKey({ name: 'limited', kind: 'person', person: boss.principal.id, scopes })
    return server.with({ authorization: `Bearer ${key}` })
  }
  const to = { person: ben.principal.id }
  const refused = await assign(await limited('propose', 'decide'), id, { to })
  expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('this key may not assign') } })
  expect(await assign(await limited('decide', 'manage'), id, { to })).toMatchObject({ status: 200 })
})

test('of two people who take an action at once one has it, and the other learns who', async () => {
  await using desk = await startFinanceDesk()
  const { server, ana, ben } = desk
  const { id } = await desk.propose()
  const answers = await Promise.all([ana, ben].map((who) => assign(who, id, { to: { person: who.principal.id }, was: null })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const { assignment } = await server.admin.get(`/api/actions/${id}`)
  const lost = answers.find(({ status }) => status === 409)
  expect(lost?.body).toMatchObject({ code: 'illegal_transition', action: { assignment } })
  expect((await server.admin.get(`/api/audit?action=${id}&kind=assigned`)).items).toHaveLength(1)
})

test('who is named is notified with the tool and its risk alone, although they had snoozed it', async () => {
  await using service = await startPushService()
  await using desk = await startFinanceDesk()
  const { server, ana } = desk
  const made = await server.makeKey({ name: 'Cy', kind: 'person', roles: ['finance'] })
  const cy = server.with({ ...(await signInWithKey(server.url, made.key)), origin: server.url })
  const at = service.subscribe()
  await cy.post('/api/push-subscriptions', at)
  const { id } = await desk.propose()
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Keyed'])
  await cy.post(`/api/actions/${id}/snooze`, { for: 'PT1H' })
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Keyed', 'withdraw'])
  await assign(ana, id, { to: { person: made.principal.id } })
  await expect.poll(() => service.said(at.endpoint)).toEqual(['show Keyed', 'withdraw', 'show Keyed'])
  expect(service.messages.at(-1)?.data).toMatchObject({ show: { title: 'Keyed', body: 'Medium risk · assigned to you' } })
  expect((await cy.get('/api/actions?mine=true')).items).toHaveLength(1)
  // Without a snooze it is shown again too; one's own word notifies nobody.
  const other = await desk.propose({ arguments: { what: 'y' } })
  await expect.poll(() => service.said(at.endpoint)).toHaveLength(4)
  await cy.post(`/api/actions/${other.id}/assign`, { to: { person: made.principal.id } })
  await assign(ana, other.id, { to: { role: 'finance' } })
  await expect.poll(() => service.said(at.endpoint)).toHaveLength(5)
  expect(service.messages.at(-1)?.data).toMatchObject({ show: { tag: other.id, body: 'Medium risk · assigned to you' } })
})

test('a webhook hears who assigned an action to whom, and that it was taken back', async () => {
  await using receiver = await startReceiver()
  await using desk = await openWebhookDesk()
  await desk.add(receiver, ['action.assigned'])
  const { id, requestedBy } = await desk.propose()
  const me = { id: requestedBy.id, name: requestedBy.name }
  for (const to of [{ person: me.id }, { role: 'approver' }, null]) await desk.admin.post(`/api/actions/${id}/assign`, { to })
  await expect.poll(() => receiver.events.length).toBe(3)
  const said = receiver.events.map(({ body }) => (body as { data: { assignment: unknown } }).data.assignment)
  for (const to of [{ person: me }, { role: 'approver' }, null]) expect(said).toContainEqual({ to, by: me })
})

test('an action of a conversation is assigned like any other, and the conversation goes on with the decision', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { tools: toolsOf(target), agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } } },
    scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Done.' }] },
  })
  const { admin } = server
  const { id: sessionId } = await admin.post('/api/sessions', {})
  await admin.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const [action] = (await admin.get(`/api/sessions/${sessionId}`)).pendingApprovals
  const me = { person: action.requestedBy.id }
  expect(await admin.post(`/api/actions/${action.id}/assign`, { to: me })).toMatchObject({ assignment: { person: { id: me.person } } })
  expect((await admin.get(`/api/sessions/${sessionId}`)).pendingApprovals).toMatchObject([{ assignment: { person: { id: me.person } } }])
  await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await server.settle()
  expect((await admin.get(`/api/sessions/${sessionId}/messages`)).items[0]).toMatchObject({ content: 'Done.' })
  expect((await admin.get(`/api/audit?action=${action.id}&kind=assigned`)).items).toMatchObject([{ data: { to: me.person } }])
})
