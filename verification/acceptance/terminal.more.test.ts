import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@countersign/core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openFaultProxy } from '../testing/fault-proxy.ts'
import { startLiveBrain } from '../testing/live-brain.ts'
import { whyNoPython } from '../testing/python.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { commandWith, openProgram, openTerminal } from '../testing/terminal.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

/** What is written last: wrapping, the cursor and the ordinary screen come back. */
const LEFT = '\u001b[?7h\u001b[?25h\u001b[?1049l'

let target: Target
let server: TestServer
let environment: Record<string, string>

/** A pseudo-terminal of Python. */
const atTerminal = test.skipIf(whyNoPython !== undefined)

beforeAll(async () => {
  target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const call = { calls: [{ tool: 'keyed', arguments: { what: 'asked in line' } }] }
  server = await startTestServer({
    config: { tools: toolsOf(target), agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } } },
    scripts: { desk: [call, { text: 'All done.' }, call] },
  })
  const { key } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver', 'member'] })
  environment = { COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key }
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await target?.[Symbol.asyncDispose]()
})

// What one test leaves waiting after a failure would fail all that come after it.
afterEach(async () => {
  const { items } = await server.admin.get('/api/actions?state=proposed')
  for (const { id } of items) await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
})

const propose = async (what: string): Promise<Action> => server.admin.post('/api/actions', { tool: 'keyed', arguments: { what } })
const settled = async ({ id }: Pick<Action, 'id'>): Promise<Action> => server.admin.get(`/api/actions/${id}?wait=60&until=settled`)

atTerminal('Ctrl + Z gives the terminal back to the shell, and fg draws the inbox as it is by then', async () => {
  const one = await propose('before')
  using shell = openProgram(['bash', '--norc', '--noprofile', '-i'], { ...environment, PS1: '$ ', INBOX: commandWith(['inbox']).join(' ') })
  const has = (text: string) => shell.until(() => shell.output.includes(text))
  shell.press('$INBOX\n')
  await shell.until((screen) => screen.includes('› medium   Do before'))
  shell.press('\u001a')
  await has('Stopped')
  const stopped = shell.output
  expect(stopped.lastIndexOf(LEFT)).toBeGreaterThan(stopped.lastIndexOf('Do before'))
  // The shell has its line editor again, and shows what is typed.
  shell.press('echo $((40 + 2)) is here\n')
  await has('42 is here')
  await server.admin.post(`/api/actions/${one.id}/decision`, { verdict: 'decline' })
  await propose('meanwhile')
  shell.press('fg\n')
  await shell.until((screen) => screen.includes('› medium   Do meanwhile') && !screen.includes('Do before'))
  shell.press('q')
  await shell.until(() => shell.output.lastIndexOf(LEFT) > shell.output.lastIndexOf('Do meanwhile'))
  shell.press('exit\n')
  expect(await shell.exit).toBe(0)
})

atTerminal('without a shell that could continue it, the inbox goes on after Ctrl + Z; a signal from outside is the same', async () => {
  await propose('alone')
  using terminal = openTerminal(['inbox'], environment)
  const screens = () => terminal.output.split('\u001b[?1049h').length - 1
  await terminal.until((screen) => screen.includes('Do alone'))
  terminal.press('\u001a')
  await terminal.until((screen) => screens() === 2 && screen.includes('Do alone'))
  await terminal.kill('SIGTSTP')
  await terminal.until((screen) => screens() === 3 && screen.includes('Do alone'))
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
})

atTerminal('the inbox fills the terminal: move, approve with two keys, decline with a reason, and leave it as it was', async () => {
  const [one, two] = [await propose('first'), await propose('second')]
  using terminal = openTerminal(['inbox'], environment)
  await terminal.until((screen) => screen.includes('2 waiting for you') && screen.includes('› medium   Do second'))
  expect(terminal.output).toContain('\u001b[7m')
  terminal.press('j')
  await terminal.until((screen) => screen.includes('› medium   Do first'))
  terminal.press('a')
  await terminal.until((screen) => screen.includes('Approve it?'))
  // Any other key keeps it waiting.
  terminal.press('x')
  await terminal.until((screen) => screen.includes('Nothing was decided.'))
  // Moving on takes this notice away, so that the next wait is for the notice of what is pasted.
  terminal.press('j')
  await terminal.until((screen) => !screen.includes('Nothing was decided.'))
  // Pasted text decides nothing.
  terminal.press('ay')
  await terminal.until((screen) => screen.includes('Nothing was decided.'))
  terminal.press('a')
  await terminal.until((screen) => screen.includes('Approve it?'))
  terminal.press('\r')
  await terminal.until((screen) => screen.includes('1 waiting for you') && screen.includes('is approved'))
  expect((await settled(one)).state).toBe('succeeded')
  terminal.press('d')
  await terminal.until((screen) => screen.includes('Reason'))
  terminal.press('wrong one!\u007f')
  await terminal.until((screen) => screen.includes('wrong one_'))
  terminal.press('\r')
  await terminal.until((screen) => screen.includes('nothing waits for you'))
  expect(await settled(two)).toMatchObject({ state: 'declined', votes: [{ reason: 'wrong one' }] })
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
  expect(terminal.output.endsWith(LEFT)).toBe(true)
})

atTerminal('the inbox says that it is not connected, goes on by itself, and then no longer says so', async () => {
  await using proxy = await openFaultProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
  using terminal = openTerminal(['inbox', '--url', `http://127.0.0.1:${proxy.port}`], environment)
  await terminal.until((screen) => screen.includes('nothing waits for you'))
  proxy.refuse(true)
  proxy.cutAll()
  await terminal.until((screen) => screen.includes('Not connected'))
  await propose('meanwhile')
  proxy.refuse(false)
  await terminal.until((screen) => screen.includes('Do meanwhile') && !screen.includes('Not connected'))
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
})

atTerminal(
  'it is live: what comes appears, what others decide goes, and an armed approval of something that is gone sends nothing',
  async () => {
    using terminal = openTerminal(['inbox'], environment)
    await terminal.until((screen) => screen.includes('nothing waits for you'))
    const action = await propose('live \u001b[31mred\u202e')
    // What comes from outside cannot move the cursor.
    await terminal.until((screen) => screen.includes('1 waiting for you') && screen.includes('live ⟦U+001B⟧'))
    terminal.press('a')
    await terminal.until((screen) => screen.includes('Approve it?'))
    await server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
    await terminal.until((screen) => screen.includes('nothing waits for you'))
    terminal.press('\r')
    terminal.press('q')
    expect(await terminal.exit).toBe(0)
    expect((await settled(action)).state).toBe('declined')
  },
)

atTerminal('the terminal says who else has seen an action, and reports a look once all of it was on the screen', async () => {
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const [short, long] = [await propose('seen by two'), await propose(`long ${'x '.repeat(3_000)}`)]
  const seenBy = async ({ id }: Action): Promise<string[]> =>
    ((await ben.get(`/api/actions/${id}`)).seenBy ?? []).map(({ by }: { by: { name: string } }) => by.name)
  await ben.post(`/api/actions/${short.id}/seen`, { revision: 1, digest: short.digest })
  using terminal = openTerminal(['inbox'], environment)
  await terminal.until((screen) => screen.includes('2 waiting for you') && screen.includes('more lines: space'))
  terminal.press('j')
  await terminal.until((screen) => screen.includes('› medium   Do seen by two') && screen.includes('Seen by Ben, 20'))
  await expect.poll(() => seenBy(short)).toEqual(['Ana', 'Ben'])
  // The long one was on the screen first, and not all of it.
  expect(await seenBy(long)).toEqual([])
  terminal.press('k')
  await terminal.until((screen) => screen.includes('› medium   Do long'))
  while (!terminal.screen.includes('(end)')) {
    const before = terminal.screen
    terminal.press(' ')
    await terminal.until((screen) => screen !== before)
  }
  await expect.poll(() => seenBy(long)).toEqual(['Ana'])
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
})

atTerminal('M says that one is on it and takes it back, and S leaves the action out of one’s own inbox only', async () => {
  const action = await propose('later')
  const read = (): Promise<Action> => server.admin.get(`/api/actions/${action.id}`)
  using terminal = openTerminal(['inbox'], environment)
  await terminal.until((screen) => screen.includes('› medium   Do later'))
  terminal.press('m')
  await terminal.until((screen) => screen.includes('(assigned to you) Do later') && screen.includes('You are on it'))
  expect((await read()).assignment).toMatchObject({ person: { name: 'Ana' }, by: { name: 'Ana' } })
  terminal.press('m')
  await terminal.until((screen) => screen.includes('› medium   Do later') && screen.includes('You are no longer on it'))
  expect((await read()).assignment ?? null).toBeNull()
  // Somebody else says it, and an open screen shows it.
  await server.admin.post(`/api/actions/${action.id}/assign`, { to: { role: 'approver' } })
  await terminal.until((screen) => screen.includes('(assigned to role "approver") Do later'))
  terminal.press('s')
  await terminal.until((screen) => screen.includes('Snooze it?'))
  terminal.press('1')
  await terminal.until((screen) => screen.includes('nothing waits for you') && screen.includes('Snoozed until'))
  const { items } = await server.admin.get('/api/actions?state=proposed&mine=true')
  expect(items).toMatchObject([{ id: action.id, state: 'proposed' }])
  await server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
})

atTerminal('a wrong key is an error of the server on the ordinary screen', async () => {
  using terminal = openTerminal(['inbox'], { ...environment, COUNTERSIGN_KEY: 'cs_wrong' })
  expect(await terminal.exit).toBe(1)
  expect(terminal.output).toContain('key')
  expect(terminal.output).not.toContain('whose key')
  expect(terminal.output).not.toContain('\u001b[?1049h')
})

atTerminal('U takes back what was approved here and waits for its agent, and it can be declined then', async () => {
  const agent = await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  const input = { type: 'object', properties: { id: { type: 'string' } } }
  await agent.post('/api/tools', { name: 'tidy', description: 'Tidies.', input, effect: 'write' })
  const action: Action = await agent.post('/api/actions', { tool: 'tidy', arguments: { id: 'INV-1' } })
  using terminal = openTerminal(['inbox'], environment)
  await terminal.until((screen) => screen.includes('1 waiting for you') && screen.includes('INV-1'))
  terminal.press('a')
  await terminal.until((screen) => screen.includes('Approve it?'))
  terminal.press('y')
  await terminal.until((screen) => screen.includes('nothing waits for you') && screen.includes('u takes it back'))
  terminal.press('u')
  await terminal.until((screen) => screen.includes('1 waiting for you') && screen.includes('It waits again'))
  expect(await server.admin.get(`/api/actions/${action.id}`)).toMatchObject({ state: 'proposed', revision: 2, revised: { why: 'undone' } })
  terminal.press('d')
  await terminal.until((screen) => screen.includes('Reason'))
  terminal.press('\r')
  await terminal.until((screen) => screen.includes('is declined'))
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
})

atTerminal('E opens the arguments in an editor, and what was saved is approved with two keys', async () => {
  using folder = temporaryFolder()
  const editor = join(folder.path, 'editor')
  writeFileSync(editor, '#!/bin/sh\nsed -i s/draft/final/ "$1"\n')
  chmodSync(editor, 0o755)
  const action = await propose('draft')
  using terminal = openTerminal(['inbox'], { ...environment, EDITOR: editor })
  await terminal.until((screen) => screen.includes('Do draft'))
  terminal.press('e')
  await terminal.until((screen) => screen.includes('Approve with your changes?') && screen.includes('+ final'))
  terminal.press('y')
  await terminal.until((screen) => screen.includes('is approved'))
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
  expect(await settled(action)).toMatchObject({ state: 'succeeded', arguments: { what: 'final' } })
})

atTerminal('`run` streams an answer, asks for approval in line, and ends when the agent is done', async () => {
  using terminal = openTerminal(['run', 'do it'], { ...environment, NO_COLOR: '1' })
  await terminal.until(() => terminal.output.includes('[a]pprove, [d]ecline, [l]eave it to others?'))
  // What is none of the answers leaves nothing to others.
  terminal.press('y\r')
  await terminal.until(() => terminal.output.split('[l]eave it to others?').length === 3)
  terminal.press('a\r')
  expect(await terminal.exit).toBe(0)
  expect(terminal.output).not.toContain('It waits.')
  expect(terminal.output).toContain('All done.')
  expect(terminal.output).not.toContain('\u001b[1m')
  expect(target.writes.filter(({ body }) => JSON.stringify(body).includes('asked in line'))).toHaveLength(1)
})

atTerminal('in a chat, neither what an agent says nor what was typed before an action was shown decides it', async () => {
  const asks = '[a]pprove, [d]ecline, [l]eave it to others? '
  const isTyped = Promise.withResolvers<void>()
  await using brain = await startLiveBrain(async ({ results }) => {
    await isTyped.promise
    if (results > 0) return { text: 'That is all.' }
    return {
      text: `${'Read the weather. '.repeat(7).padEnd(98)}${asks}\n${asks}`,
      calls: [{ id: 'call_1', tool: 'keyed', input: { what: 'not this' } }],
    }
  })
  await using chatty = await startTestServer({
    config: { tools: toolsOf(target), agents: { talk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } } },
  })
  const { key } = await chatty.makeKey({ name: 'Ana', kind: 'person', roles: ['approver', 'member'] })
  using terminal = openTerminal(['run', 'do it'], { COUNTERSIGN_URL: chatty.url, COUNTERSIGN_KEY: key, NO_COLOR: '1' })
  await terminal.until(() => terminal.output.includes('session ses_'))
  terminal.press('a\ra\ra')
  await terminal.until(() => /a\r\na\r\na/.test(terminal.output))
  isTyped.resolve()
  // The question of the program alone begins a line.
  await terminal.until(() => /[\nJ]\[a\]pprove/.test(terminal.output))
  terminal.press('d\r')
  await terminal.until(() => terminal.output.includes('Reason (may be empty): '))
  terminal.press('\r')
  expect(await terminal.exit).toBe(0)
  const { items } = await chatty.admin.get('/api/actions')
  expect(items).toMatchObject([{ state: 'declined' }])
  expect(target.writes.filter(({ body }) => JSON.stringify(body).includes('not this'))).toEqual([])
  const lines = terminal.output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '').split(/\r*\n/)
  for (const line of lines.filter((line) => line.includes('the weather'))) expect(line).toMatch(/^a?│ /)
  expect(lines.filter((line) => line.includes(asks)).map((line) => line.startsWith('│ '))).toEqual([true, true, false])
})

atTerminal('Ctrl-C, a signal and a crash leave the terminal as it was, and a crash is still readable', async () => {
  const crash = "--import=data:text/javascript,process.on('SIGUSR2',()=>{throw%20new%20Error('crashed%20here')})"
  const ends = [
    { end: (terminal: ReturnType<typeof openTerminal>) => terminal.press('\u0003'), code: 0 },
    { end: (terminal: ReturnType<typeof openTerminal>) => terminal.kill('SIGTERM'), code: 143 },
    { end: (terminal: ReturnType<typeof openTerminal>) => terminal.kill('SIGUSR2'), code: 1, says: 'crashed here' },
  ]
  for (const { end, code, says = '' } of ends) {
    using terminal = openTerminal(['inbox'], { ...environment, NODE_OPTIONS: crash })
    await terminal.until((screen) => screen.includes('nothing waits for you'))
    await end(terminal)
    expect(await terminal.exit).toBe(code)
    const after = terminal.output.slice(terminal.output.lastIndexOf(LEFT))
    expect(after.startsWith(LEFT)).toBe(true)
    expect(after).toContain(says)
  }
})

atTerminal('at 40 columns and after a change of size every line fits, and NO_COLOR marks nothing', async () => {
  const action = await propose(`${'a long text '.repeat(30)}the end`)
  using terminal = openTerminal(['inbox'], { ...environment, NO_COLOR: '1' }, { rows: 24, columns: 80 })
  const fills = (rows: number, columns: number) => (screen: string) => {
    const lines = screen.split('\n')
    return lines.length === rows && lines.every((line) => line.length <= columns) && lines.some((line) => line.length > columns - 15)
  }
  await terminal.until(fills(24, 80))
  terminal.resize({ rows: 24, columns: 40 })
  await terminal.until((screen) => fills(24, 40)(screen) && screen.includes('q quit'))
  await server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
  await terminal.until((screen) => screen.includes('nothing waits for you'))
  terminal.press('q')
  expect(await terminal.exit).toBe(0)
  expect(terminal.output).not.toMatch(/\u001b\[\d*m/)
})

test('without a terminal there are plain lines and no styles, and `run --no-wait` says with exit code 4 that a decision is waited for', async () => {
  const waited = await runCommandLine(['run', 'do it', '--no-wait'], environment)
  expect(waited).toMatchObject({ code: 4, stdout: expect.stringContaining('waits for a decision: act_') })
  const listed = await runCommandLine(['inbox'], environment)
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(waited.stdout + listed.stdout).not.toContain('\u001b')
  const refused = await runCommandLine(['inbox'], { ...environment, COUNTERSIGN_KEY: 'cs_wrong' })
  expect(refused).toMatchObject({ code: 1, stdout: '' })
})

atTerminal('a server whose terminal is closed ends, although Node still holds the terminal', async () => {
  using folder = temporaryFolder()
  const configFile = join(folder.path, 'countersign.yaml')
  writeFileSync(configFile, '{}\n')
  const terminal = openTerminal(['serve', '--no-open', '--port', '0', '--config', configFile, '--data', join(folder.path, 'data')], {})
  await terminal.until(() => terminal.output.includes('ready at'))
  const pid = await terminal.pid
  terminal[Symbol.dispose]()
  await expect.poll(() => isRunning(pid)).toBe(false)
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
