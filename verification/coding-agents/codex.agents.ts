import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { APPEND, ran, type Steps, testCases } from './cases.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { CODEX, type Running, run, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`Codex ${versionOf('@openai/codex')}`)

let calls = 0
/** Codex names its shell tool by model; the scripted model uses the name that the request offers. */
const shell = (command: string): Speech => ({
  calls: [{ id: `call_${++calls}`, name: 'exec_command', argumentsText: JSON.stringify({ cmd: command }) }],
})

interface Codex {
  fixture: Fixture
  model: ScriptedEndpoint
  prompt(): Running
}

async function startCodex({ steps, policy, connect = [] }: Steps): Promise<Codex> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  await fixture.connect('codex', ...connect)
  const folder = join(fixture.home, '.codex')
  writeFileSync(
    join(folder, 'config.toml'),
    `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${model.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[projects."${fixture.project}"]
trust_level = "trusted"
`,
  )
  return {
    fixture,
    model,
    prompt() {
      const env = { HOME: fixture.home, PATH: process.env.PATH ?? '', SCRIPTED_KEY: 'x' }
      const args = [CODEX(), 'exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', 'Do it.']
      const running = run(process.execPath, args, { cwd: fixture.project, env })
      onTestFinished(() => void running.child.kill())
      return running
    },
  }
}

testCases({ start: startCodex, shell, tellsFailures: false })

test('a command of codex exec waits for a person, runs once, and its report ends the action', async () => {
  const { fixture, model, prompt } = await startCodex({ steps: [shell(APPEND), { text: 'All done.' }] })
  const { ended } = prompt()
  const card = await fixture.waiting()
  expect(card).toMatchObject({ tool: 'host.shell', arguments: { host: 'codex', command: APPEND }, agent: 'coder' })
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  expect((await ended).stdout).toContain('All done.')
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'Codex' } })
  expect(model.requests).toHaveLength(2)
})

test('changed by a person: the changed command runs, not the one of the model', async () => {
  const { fixture, prompt } = await startCodex({ steps: [shell('printf no >> ran.txt'), { text: 'Done.' }] })
  const { ended } = prompt()
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: APPEND } })
  await ended
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', arguments: { command: APPEND } })
})

test('declined: nothing runs, and the words of the person reach the model', async () => {
  const { fixture, model, prompt } = await startCodex({ steps: [shell(APPEND), { text: 'Understood.' }] })
  const { ended } = prompt()
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  await ended
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('Not on a Friday')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('server away: what would have asked does not run', async () => {
  const { fixture, model, prompt } = await startCodex({ steps: [shell(APPEND), { text: 'It did not run.' }] })
  await fixture.server.stop()
  await prompt().ended
  expect(ran(fixture)).toBe('')
  expect(model.requests.length).toBeGreaterThanOrEqual(1)
})
