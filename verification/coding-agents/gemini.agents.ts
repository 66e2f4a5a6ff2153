import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { APPEND, ran, type Steps, testCases } from './cases.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { GEMINI, killHooksOf, type Running, run, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`Gemini CLI ${versionOf('@google/gemini-cli')}`)

let calls = 0
const shell = (command: string): Speech => ({
  calls: [{ id: `call_${++calls}`, name: 'run_shell_command', argumentsText: JSON.stringify({ command }) }],
})

interface Gemini {
  fixture: Fixture
  model: ScriptedEndpoint
  /** Runs one prompt without a terminal. Its own prompts are off: only the hook holds a call. */
  prompt(): Running
}

async function startGemini({ steps, policy, connect = [] }: Steps): Promise<Gemini> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  const folder = join(fixture.home, '.gemini')
  mkdirSync(folder, { recursive: true })
  const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
  await fixture.connect('gemini', ...connect)
  return {
    fixture,
    model,
    prompt() {
      const env = {
        HOME: fixture.home,
        PATH: process.env.PATH ?? '',
        GEMINI_API_KEY: 'not-a-key-of-anybody',
        GOOGLE_GEMINI_BASE_URL: model.url,
        GEMINI_TELEMETRY_ENABLED: 'false',
      }
      const args = [GEMINI(), '-p', 'Do it.', '--skip-trust', '--approval-mode', 'yolo', '-m', 'gemini-3-pro-preview']
      const running = run(process.execPath, args, { cwd: fixture.project, env })
      onTestFinished(() => void running.child.kill())
      return running
    },
  }
}

testCases({ start: startGemini, shell })

test('a command waits for a person, runs once, and its report ends the action', async () => {
  const { fixture, model, prompt } = await startGemini({ steps: [shell(APPEND), { text: 'All done.' }] })
  const { ended } = prompt()
  const card = await fixture.waiting()
  expect(card).toMatchObject({ tool: 'host.shell', arguments: { host: 'gemini', command: APPEND }, agent: 'coder' })
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  expect((await ended).stdout).toContain('All done.')
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'Gemini CLI' } })
  expect(model.requests).toHaveLength(2)
})

test('a person changes the command: the changed one runs, once', async () => {
  const { fixture, prompt } = await startGemini({ steps: [shell(APPEND), { text: 'All done.' }] })
  const { ended } = prompt()
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: 'printf y >> ran.txt' } })
  await ended
  expect(ran(fixture)).toBe('y')
})

test('declined: nothing runs, and the words of the person reach the model', async () => {
  const { fixture, model, prompt } = await startGemini({ steps: [shell(APPEND), { text: 'Understood.' }] })
  const { ended } = prompt()
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  await ended
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('Not on a Friday')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('server away: what would have asked does not run', async () => {
  const { fixture, model, prompt } = await startGemini({ steps: [shell(APPEND), { text: 'It did not run.' }] })
  await fixture.server.stop()
  await prompt().ended
  expect(ran(fixture)).toBe('')
  expect(model.requests.length).toBeGreaterThanOrEqual(1)
})

test('the hook is killed while it waits: Gemini CLI runs the call, and its report says here that it ran without an approval', async () => {
  const { fixture, prompt } = await startGemini({ steps: [shell(APPEND), { text: 'All done.' }] })
  const running = prompt()
  await fixture.waiting()
  expect(killHooksOf(running)).toBeGreaterThan(0)
  await running.ended
  expect(ran(fixture)).toBe('x')
  const [action] = await fixture.actions()
  expect(action).toMatchObject({ state: 'cancelled', attempt: 0, error: { kind: 'ran_elsewhere' } })
  expect(action?.outcome?.text).toContain('Gemini CLI says that it ran this')
})
