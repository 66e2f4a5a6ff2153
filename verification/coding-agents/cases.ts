import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codingAgentStarter } from '../../packages/server/src/coding-agent/index.ts'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import type { Fixture, Policy } from './fixture.ts'
import type { ScriptedEndpoint } from './scripted-endpoint.ts'

export interface Steps {
  steps: readonly Speech[]
  /** Default: every call is asked about. */
  policy?: Policy
  /** More arguments of the command that connects it. */
  connect?: readonly string[]
}

/** One prompt of a program. */
export interface Turn {
  /** Resolves when the turn is over. */
  ended: Promise<unknown>
  /** Kills the program and all that it has started, as a machine that goes down does. */
  kill(): void
}

/** A program behind Countersign, and its scripted model. */
export interface Prompted {
  fixture: Fixture
  model: ScriptedEndpoint
  /** Starts the program, with one prompt. */
  prompt(): Turn | Promise<Turn>
}

interface Program {
  start(steps: Steps): Promise<Prompted>
  /** A call of the program's own shell tool. */
  shell(command: string): Speech
  /** A read that the program asks about; undefined when it asks about none. Default: `cat note.txt`. */
  look?: string | undefined
  /** False when the program takes no reason for its model. Default: true. */
  takesReasons?: boolean
  /** False when the program does not say whether a command failed. Default: true. */
  tellsFailures?: boolean
}

/** Appends one letter, so that running twice would show. */
export const APPEND = 'printf x >> ran.txt'
export const ran = ({ project }: Fixture): string =>
  existsSync(join(project, 'ran.txt')) ? readFileSync(join(project, 'ran.txt'), 'utf8') : ''

/** The cases that are the same for each program. */
export function testCases({ takesReasons = true, tellsFailures = true, ...program }: Program): void {
  const { start, shell, look } = { look: 'cat note.txt', ...program }
  test.skipIf(look === undefined)('a read that policy allows runs by itself, and nobody is asked', async () => {
    const { fixture, model, prompt } = await start({
      steps: [shell(look ?? ''), { text: 'All done.' }],
      policy: { rules: codingAgentStarter('host') },
    })
    writeFileSync(join(fixture.project, 'note.txt'), 'what-it-says')
    await (await prompt()).ended
    expect(model.requests[1]?.body).toContain('what-it-says')
    expect(await fixture.actions()).toMatchObject([{ tool: 'host.look', state: 'succeeded', policy: { verdict: 'allow' }, votes: [] }])
  })

  test('nobody decides in time: nothing runs, and the model is told where it waits if its program takes a reason', async () => {
    const { fixture, model, prompt } = await start({ steps: [shell(APPEND), { text: 'Later.' }], connect: ['--limit', '2'] })
    await (await prompt()).ended
    const [card] = await fixture.actions()
    expect(card?.attempt).toBe(0)
    if (takesReasons) expect(model.requests[1]?.body).toContain(card?.id)
    expect(ran(fixture)).toBe('')
  })

  test('a server that restarts while people think is found again, and the approved call runs once', async () => {
    const { fixture, prompt } = await start({ steps: [shell(APPEND), { text: 'All done.' }] })
    const { ended } = await prompt()
    const card = await fixture.waiting()
    await fixture.server.restart()
    expect((await fixture.waiting()).id).toBe(card.id)
    await fixture.decide(card, { verdict: 'approve' })
    await ended
    expect(ran(fixture)).toBe('x')
    expect(await fixture.actions()).toMatchObject([{ id: card.id, state: 'succeeded' }])
  })

  test('a program that is killed while it waits runs nothing; its next start asks anew, and the approved call runs once', async () => {
    const { fixture, prompt } = await start({ steps: [shell(APPEND), shell(APPEND), { text: 'All done.' }] })
    const first = await prompt()
    const left = await fixture.waiting()
    first.kill()
    await first.ended
    expect(await fixture.settled(left)).toMatchObject({ state: 'cancelled', attempt: 0 })
    expect(ran(fixture)).toBe('')
    const { ended } = await prompt()
    await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
    await ended
    expect(ran(fixture)).toBe('x')
  })

  test('approved twice, as by a double click: the call runs once', async () => {
    const { fixture, prompt } = await start({ steps: [shell(APPEND), { text: 'All done.' }] })
    const { ended } = await prompt()
    const card = await fixture.waiting()
    await Promise.all([fixture.decide(card, { verdict: 'approve' }), fixture.decide(card, { verdict: 'approve' })])
    await ended
    expect(ran(fixture)).toBe('x')
    expect(await fixture.actions()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  })

  test.skipIf(!tellsFailures)('a command that fails after it has begun is a failed action, not one that was carried out', async () => {
    const { fixture, prompt } = await start({ steps: [shell(`${APPEND}; exit 3`), { text: 'It failed.' }] })
    const { ended } = await prompt()
    await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
    await ended
    expect(ran(fixture)).toBe('x')
    expect(await fixture.actions()).toMatchObject([{ state: 'failed', attempt: 1 }])
  })
}
