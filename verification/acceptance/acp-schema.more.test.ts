import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { createAcpDialect } from '../../packages/server/src/cli/acp/acp-dialect.ts'
import { between } from '../testing/between-programs.ts'
import { counterpart } from '../testing/counterparts.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { startTestServer } from '../testing/test-server.ts'

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
const request = (id: number, command: string, options: readonly object[] = OPTIONS) => ({
  ...{ jsonrpc: '2.0', id, method: 'session/request_permission' },
  params: { sessionId: 's1', toolCall: { toolCallId: `call ${id}`, kind: 'execute', rawInput: { command } }, options },
})

/** A validator of one definition in the protocol's published schema. */
async function definition(version: 'v1' | 'v2', name: string): Promise<(value: unknown) => boolean> {
  const { default: ajv } = await import(pathToFileURL(counterpart('ajv/dist/2020.js')).href)
  const schema = JSON.parse(readFileSync(counterpart(`@agentclientprotocol/sdk/schema/${version}/schema.json`), 'utf8'))
  return new ajv.Ajv2020({ strict: false, validateFormats: false }).addSchema(schema, 'acp').compile({ $ref: `acp#/$defs/${name}` })
}

test('what countersign acp itself says to agent and editor is valid by the published schemas of version 1 and of version 2', async () => {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana agent', kind: 'agent', agent: 'zed', roles: ['agent'] })
  const { editor, agent } = between(createAcpDialect(), { base: server.url, authorization: `Bearer ${key}` })
  const answers: JsonObject[] = []
  const closed: JsonObject[] = []
  const decisions = [{ verdict: 'approve' }, { verdict: 'decline', reason: 'Not today' }, { verdict: 'decline' }] as const
  for (const [id, decision] of decisions.entries()) {
    // The last one offers nothing to decline with.
    agent.send(request(id, `npm publish ${id}`, id === 2 ? OPTIONS.slice(0, 1) : OPTIONS))
    await editor.next()
    await decide(server, await waiting(server), decision)
    answers.push((await agent.message()).result)
    closed.push((await editor.message()).params)
  }
  agent.send(request(3, 'npm test', []))
  answers.push((await agent.message()).result)

  expect(answers.map(({ outcome }) => outcome)).toEqual([
    { outcome: 'selected', optionId: 'yes' },
    { outcome: 'selected', optionId: 'no' },
    { outcome: 'cancelled' },
    { outcome: 'cancelled' },
  ])
  for (const version of ['v1', 'v2'] as const) {
    const isAnswer = await definition(version, 'RequestPermissionResponse')
    const isCancel = await definition(version, 'CancelRequestNotification')
    expect(answers.filter((answer) => !isAnswer(answer))).toEqual([])
    expect(closed.filter((params) => !isCancel(params))).toEqual([])
    expect([isAnswer({ outcome: { outcome: 'selected' } }), isAnswer({}), isCancel({})]).toEqual([false, false, false])
  }
})

test('requests of version 2 with each kind of subject are valid by its published schema, become cards, and get valid answers', async () => {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana agent', kind: 'agent', agent: 'zed', roles: ['agent'] })
  const { editor, agent } = between(createAcpDialect(), { base: server.url, authorization: `Bearer ${key}` })
  const isRequest = await definition('v2', 'RequestPermissionRequest')
  const isAnswer = await definition('v2', 'RequestPermissionResponse')
  const subjects = [
    { type: 'tool_call', toolCall: { toolCallId: 'c', kind: 'execute', rawInput: { command: 'npm publish' } } },
    { type: 'command', command: 'npm pack', cwd: '/srv/shop' },
    { type: '_payment', amount: 12 },
    null,
  ]
  for (const [id, subject] of subjects.entries()) {
    const params = { sessionId: 's1', title: 'May I?', subject, options: OPTIONS }
    expect(isRequest(params)).toBe(true)
    agent.send({ jsonrpc: '2.0', id, method: 'session/request_permission', params })
    await editor.next()
    await decide(server, await waiting(server), { verdict: 'approve' })
    const { result } = await agent.message()
    expect(result.outcome).toEqual({ outcome: 'selected', optionId: 'yes' })
    expect(isAnswer(result)).toBe(true)
    await editor.next()
  }
})
