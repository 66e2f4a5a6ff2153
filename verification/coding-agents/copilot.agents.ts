import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { APPEND, ran, type Steps, testCases } from './cases.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { COPILOT, killHooksOf, type Running, run, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`GitHub Copilot CLI ${versionOf('@github/copilot')}`)

let calls = 0
const shell = (command: string): Speech => ({
  calls: [{ id: `call_${++calls}`, name: 'bash', argumentsText: JSON.stringify({ command, description: 'Does it' }) }],
})

interface Copilot {
  fixture: Fixture
  model: ScriptedEndpoint
  /** Runs one prompt without a terminal. Its own prompts are off: only the hook holds a call. */
  prompt(...args: string[]): Running
}

async function startCopilot({ steps, policy, connect = [] }: Steps): Promise<Copilot> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  await fixture.connect('copilot', ...connect)
  return {
    fixture,
    model,
    prompt(...args) {
      const env = {
        HOME: fixture.home,
        PATH: process.env.PATH ?? '',
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
        COPILOT_PROVIDER_API_KEY: 'not-a-key-of-anybody',
        COPILOT_MODEL: 'scripted',
      }
      const running = run(COPILOT(), ['-p', 'Do it.', ...args], { cwd: fixture.project, env })
      onTestFinished(() => void running.child.kill())
      return running
    },
  }
}

testCases({
  async start(steps) {
    const { prompt, ...rest } = await startCopilot(steps)
    return { ...rest, prompt: () => prompt('--allow-all-tools') }
  },
  shell,
})

test('a command waits for a person, runs once, and its report ends the action', async () => {
  const { fixture, model, prompt } = await startCopilot({ steps: [shell(APPEND), { text: 'All done.' }] })
  const { ended } = prompt('--allow-all-tools')
  const card = await fixture.waiting()
  expect(card).toMatchObject({ tool: 'host.shell', arguments: { host: 'copilot', command: APPEND }, agent: 'coder' })
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  expect((await ended).stdout).toContain('All done.')
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'GitHub Copilot CLI' } })
  expect(model.requests).toHaveLength(2)
})

test('a person changes the command: nothing runs, because this hook cannot change it, and the reason names the change', async () => {
  const { fixture, model, prompt } = await startCopilot({ steps: [shell(APPEND), { text: 'Understood.' }] })
  const { ended } = prompt('--allow-all-tools')
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: 'printf y >> ran.txt' } })
  await ended
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('printf y')
})

test('declined: nothing runs, and the words of the person reach the model', async () => {
  const { fixture, model, prompt } = await startCopilot({ steps: [shell(APPEND), { text: 'Understood.' }] })
  const { ended } = prompt('--allow-all-tools')
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  await ended
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('Not on a Friday')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('server away: what would have asked does not run', async () => {
  const { fixture, model, prompt } = await startCopilot({ steps: [shell(APPEND), { text: 'It did not run.' }] })
  await fixture.server.stop()
  await prompt('--allow-all-tools').ended
  expect(ran(fixture)).toBe('')
  expect(model.requests.length).toBeGreaterThanOrEqual(1)
})

test('its own prompts: without a terminal, the hook answers them in place of a person at the keyboard', async () => {
  const { fixture, prompt } = await startCopilot({ steps: [shell(APPEND), { text: 'All done.' }], connect: ['--only-prompts'] })
  const { ended } = prompt()
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  await ended
  expect(ran(fixture)).toBe('x')
})

test('the hook is killed while it waits: GitHub Copilot CLI does not run the call, and the card is closed', async () => {
  const { fixture, prompt } = await startCopilot({ steps: [shell(APPEND), { text: 'All done.' }] })
  const running = prompt('--allow-all-tools')
  await fixture.waiting()
  expect(killHooksOf(running)).toBeGreaterThan(0)
  await running.ended
  expect(ran(fixture)).toBe('')
  expect(await fixture.actions()).toMatchObject([{ state: 'cancelled', error: { kind: 'withdrawn' } }])
})
