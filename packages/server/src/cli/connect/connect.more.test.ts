import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { JsonObject, PolicyRule } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { settled, waiting } from '../../../../../verification/testing/decisions.ts'
import { runCommandLine, spawnCommandLine } from '../../../../../verification/testing/run-command.ts'
import { startTestServer, temporaryFolder } from '../../../../../verification/testing/test-server.ts'
import { HOOK_HOSTS, type HookHost } from '../../coding-agent/index.ts'
import { HOOK_SHAPES } from '../../hooks/shapes/index.ts'

const FILES: Record<HookHost, string> = {
  claude: '.claude/settings.json',
  codex: '.codex/hooks.json',
  copilot: '.copilot/hooks/countersign.json',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/hooks.json',
}

const NOTHING_RUNS: PolicyRule = { name: 'no', match: { tool: 'host.*' }, verdict: 'deny' }

async function start(rules: PolicyRule[] = [NOTHING_RUNS]) {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const home = temporaryFolder()
  onTestFinished(() => home[Symbol.dispose]())
  const { key } = await server.makeKey({ name: 'ana', kind: 'agent', roles: ['agent'] })
  const environment = { HOME: home.path, PATH: process.env.PATH ?? '', COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key }
  const connect = (...args: string[]) => runCommandLine(['connect', ...args], environment)
  return { server, home: home.path, environment, connect }
}

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** Runs a hook of a host as the host does. */
async function runHook(command: string, message: object): Promise<{ code: number | null; answer: string; errors: string }> {
  const child = spawn(command, { shell: true, env: { PATH: process.env.PATH ?? '' }, stdio: ['pipe', 'pipe', 'pipe'] })
  // A command that does not start does not read the message.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(message))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [answer, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, answer, errors }
}

test('every host is connected, proved with a call that is refused, checked by doctor, and disconnected without a trace', async () => {
  const { home, connect, environment } = await start()
  for (const host of HOOK_HOSTS) {
    const file = join(home, FILES[host])
    const done = await connect(host, '--yes')
    expect(done, host).toMatchObject({ code: 0, stdout: expect.stringContaining('canary call through the hook was refused') })
    expect(readFileSync(file, 'utf8'), host).not.toContain(environment.COUNTERSIGN_KEY)
    expect(statSync(join(home, `.countersign/hooks/${host}.key`)).mode & 0o777).toBe(0o600)
    // A second run changes nothing.
    expect((await connect(host, '--yes')).stdout).toContain('needs no change')
  }
  // It begins all five hooks at once, which on a busy machine take longer than the ten seconds that it gives a check.
  const doctor = await runCommandLine(['doctor', '--json', '--timeout', '240', '--data', join(home, 'data')], environment)
  const { findings } = JSON.parse(doctor.stdout)
  expect(
    findings.filter(({ check, level }: { check: string; level: string }) => check.startsWith('hooks of') && level === 'ok'),
  ).toHaveLength(5)
  for (const host of HOOK_HOSTS) {
    expect((await connect(host, '--undo', '--yes')).code).toBe(0)
    expect(existsSync(join(home, FILES[host])), host).toBe(false)
  }
})

test('with --only-prompts it is told which calls never reach Countersign', async () => {
  const { connect } = await start()
  for (const [host, told] of [
    ['claude', '--permission-mode manual'],
    ['codex', 'codex exec runs its calls without asking'],
  ] as const) {
    expect((await connect(host, '--yes')).stdout).not.toContain(told)
    expect((await connect(host, '--yes', '--only-prompts')).stdout).toContain(told)
    expect(JSON.parse((await connect(host, '--yes', '--only-prompts', '--json')).stdout).notes.join()).toContain(told)
  }
})

test('settings that are there stay, and are back byte for byte when the canary is not refused', async () => {
  const { home, connect, environment } = await start()
  const file = join(home, FILES.claude)
  const own = { model: 'opus', hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './mine.sh' }] }] } }
  write(file, JSON.stringify(own, null, 4))
  expect((await connect('claude')).code).toBe(1)
  expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(own, null, 4))

  const wrong = await runCommandLine(['connect', 'claude', '--yes', '--direct'], {
    ...environment,
    COUNTERSIGN_KEY: 'csk_wrong_wrong_wrong_wrong',
  })
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('settings were put back') })
  expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(own, null, 4))

  expect((await connect('claude', '--yes', '--direct')).code).toBe(0)
  const { model, hooks } = JSON.parse(readFileSync(file, 'utf8'))
  expect(model).toBe('opus')
  expect(hooks.PreToolUse).toEqual([
    own.hooks.PreToolUse[0],
    {
      matcher: '',
      hooks: [expect.objectContaining({ type: 'http', timeout: 580, onFailure: 'block', allowedEnvVars: ['COUNTERSIGN_KEY'] })],
    },
  ])
  expect((await connect('claude', '--undo', '--yes')).code).toBe(0)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(own)

  write(file, '{ // mine\n }')
  expect(await connect('claude', '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('not plain JSON') })
  expect(readFileSync(file, 'utf8')).toBe('{ // mine\n }')
})

test('--print prints settings that a program can read, and writes nothing', async () => {
  const { home, connect } = await start()
  for (const host of HOOK_HOSTS) {
    const { code, stdout } = await connect(host, '--print')
    expect({ code, settings: JSON.parse(stdout) }, host).toMatchObject({ code: 0, settings: { hooks: expect.any(Object) } })
    expect(existsSync(join(home, FILES[host])), host).toBe(false)
  }
  write(join(home, FILES.claude), '{"model":"opus\u009b"}')
  const { stdout } = await connect('claude', '--print')
  expect(JSON.parse(stdout)).toMatchObject({ model: 'opus\u009b', hooks: { PreToolUse: [{ matcher: '' }] } })
  expect(stdout).not.toContain('\u009b')
  expect(existsSync(join(home, '.countersign'))).toBe(false)
})

test('settings with a comment are refused with the command that prints the hooks alone, to add by hand', async () => {
  const { home, connect } = await start()
  const file = join(home, FILES.claude)
  write(file, '// mine\n{ "model": "opus" }\n')
  const refused = await connect('claude', '--yes')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('countersign connect claude --print') })
  const { code, stdout, stderr } = await connect('claude', '--print')
  expect(stderr).toBe(`countersign: ${file} is not plain JSON, so only the hooks are printed: add them to it by hand.\n`)
  expect({ code, settings: JSON.parse(stdout) }).toMatchObject({ code: 0, settings: { hooks: { PreToolUse: [{ matcher: '' }] } } })
  // What is there cannot be removed without them either.
  const undone = await connect('claude', '--undo', '--print')
  expect(undone).toMatchObject({
    code: 1,
    stderr: `countersign: ${file} is not plain JSON: remove the hooks of Countersign from it by hand.\n`,
  })
  expect(readFileSync(file, 'utf8')).toBe('// mine\n{ "model": "opus" }\n')
})

test('a folder in the place of the settings file, or a file in the place of their folder, is named, and nothing is changed', async () => {
  const { home, connect } = await start()
  mkdirSync(join(home, FILES.claude), { recursive: true })
  writeFileSync(join(home, '.gemini'), 'mine')
  const refused = (host: 'claude' | 'gemini', why: string) => ({ code: 1, stderr: `countersign: ${join(home, FILES[host])} ${why}\n` })
  const unread = refused('claude', 'cannot be read (EISDIR): it has to be a file that this user can read')
  for (const flag of ['--yes', '--undo']) expect(await connect('claude', flag)).toMatchObject(unread)
  const unwritten = refused('gemini', `cannot be written (EEXIST): ${join(home, '.gemini')} has to be a folder`)
  expect(await connect('gemini', '--yes')).toMatchObject(unwritten)
  expect(readFileSync(join(home, '.gemini'), 'utf8')).toBe('mine')
  expect(existsSync(join(home, '.countersign'))).toBe(false)
})

test('a key that cannot be stored is told, and the settings are as they were: hooks without a key would deny every call', async () => {
  const { home, connect } = await start()
  const key = (host: HookHost) => join(home, `.countersign/hooks/${host}.key`)
  write(join(home, FILES.codex), '{"hooks": {}}')
  const unstored = (host: HookHost, why: string) => ({ code: 1, stdout: expect.any(String), stderr: `countersign: ${key(host)} ${why}\n` })

  writeFileSync(join(home, '.countersign'), 'mine')
  const where = `cannot be written (ENOTDIR): ${dirname(key('claude'))} has to be a folder`
  expect(await connect('claude', '--yes')).toEqual(unstored('claude', where))
  expect(await connect('codex', '--yes')).toEqual(unstored('codex', where))
  rmSync(join(home, '.countersign'))
  mkdirSync(key('claude'), { recursive: true })
  expect(await connect('claude', '--yes')).toEqual(
    unstored('claude', 'cannot be read (EISDIR): it has to be a file that this user can read'),
  )
  // Nobody makes a file in there, not even root.
  rmSync(dirname(key('codex')), { recursive: true })
  symlinkSync('/proc', dirname(key('codex')))
  expect(await connect('codex', '--yes')).toEqual(
    unstored('codex', `cannot be written (ENOENT): ${dirname(key('codex'))} has to be a folder that this user can write, with room for it`),
  )
  expect([existsSync(join(home, FILES.claude)), existsSync(key('codex'))]).toEqual([false, false])
  expect(readFileSync(join(home, FILES.codex), 'utf8')).toBe('{"hooks": {}}')
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a connect that %s ends before its canary was refused puts the settings and the key back',
  async (signal) => {
    const { home, environment } = await start()
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const [file, key] = [join(home, FILES.claude), join(home, '.countersign/hooks/claude.key')]
    write(file, '{"model":"opus"}')
    write(key, 'cs_before\n')
    const { child, ended } = spawnCommandLine(['connect', 'claude', '--yes'], {
      ...environment,
      COUNTERSIGN_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    })
    const [asked] = await once(silent, 'connection')
    expect([readFileSync(file, 'utf8').includes('PreToolUse'), readFileSync(key, 'utf8')]).toEqual([
      true,
      `${environment.COUNTERSIGN_KEY}\n`,
    ])
    child.kill(signal)
    expect(await ended).toMatchObject({
      code: 130,
      stderr: 'countersign: stopped before the canary call was refused, so the settings were put back\n',
    })
    // The hook ends, too: its server is gone.
    asked.destroy()
    expect([readFileSync(file, 'utf8'), readFileSync(key, 'utf8')]).toEqual(['{"model":"opus"}', 'cs_before\n'])
  },
)

test('settings that are a link into a folder of dotfiles stay one, with the mode of their file', async () => {
  const { home, connect } = await start()
  const [file, dotfile] = [join(home, FILES.claude), join(home, 'dotfiles/claude.json')]
  write(dotfile, '{"model":"opus"}')
  chmodSync(dotfile, 0o644)
  mkdirSync(dirname(file))
  symlinkSync(dotfile, file)
  const facts = () => ({ isLink: lstatSync(file).isSymbolicLink(), mode: statSync(dotfile).mode & 0o777 })

  expect((await connect('claude', '--yes')).code).toBe(0)
  expect(facts()).toEqual({ isLink: true, mode: 0o644 })
  expect(JSON.parse(readFileSync(dotfile, 'utf8'))).toMatchObject({ model: 'opus', hooks: { PreToolUse: [{}] } })
  expect((await connect('claude', '--undo', '--yes')).code).toBe(0)
  expect(JSON.parse(readFileSync(dotfile, 'utf8'))).toEqual({ model: 'opus' })

  // A file that holds nothing else is not taken from under its link either.
  write(dotfile, '{}')
  expect((await connect('claude', '--yes')).code).toBe(0)
  expect((await connect('claude', '--undo', '--yes')).code).toBe(0)
  expect(facts()).toEqual({ isLink: true, mode: 0o644 })
  expect(readFileSync(file, 'utf8')).toBe('{}\n')
})

test('a key of a person is refused: the agent can read it, and could approve its own calls', async () => {
  const { server, home, environment } = await start()
  const connect = (key: string) => runCommandLine(['connect', 'claude', '--yes'], { ...environment, COUNTERSIGN_KEY: key })
  const person = await server.makeKey({ name: 'ben', kind: 'person', roles: ['approver'] })
  const proposer = await server.makeKey({ name: 'cid', kind: 'person', roles: ['approver'], scopes: ['propose'] })
  const refused = await connect(person.key)
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('This is the key of ben, a person') })
  const keyFile = join(home, '.countersign/hooks/claude.key')
  expect([existsSync(join(home, FILES.claude)), existsSync(keyFile)]).toEqual([false, false])
  const asked = await runCommandLine(['connect', 'claude'], { ...environment, COUNTERSIGN_KEY: proposer.key })
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was written') })
  expect(existsSync(keyFile)).toBe(false)
  expect((await connect(proposer.key)).code).toBe(0)
  const unknown = await connect('cs_nobody')
  expect(unknown).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('(this key is not known here). Nothing was run. Ask the person to correct'),
  })
  expect(readFileSync(keyFile, 'utf8')).toBe(`${proposer.key}\n`)
})

test('the hook denies in the words of each host when the server is away, and what it cannot read it refuses with code 2', async () => {
  const { server, home, connect } = await start()
  const commands: Partial<Record<HookHost, string>> = {}
  for (const host of HOOK_HOSTS) {
    await connect(host, '--yes', '--limit', '5')
    const hooks = JSON.parse(readFileSync(join(home, FILES[host]), 'utf8')).hooks
    const [entry] = hooks.PreToolUse ?? hooks.BeforeTool ?? hooks.preToolUse
    commands[host] = entry.hooks?.[0].command ?? entry.command ?? entry.bash
  }
  await server.stop()
  const claude = { session_id: 's', cwd: '/', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }
  const messages: Record<HookHost, object> = {
    claude,
    codex: claude,
    copilot: { sessionId: 's', cwd: '/', toolName: 'bash', toolArgs: '{"command":"ls"}' },
    gemini: { ...claude, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' },
    cursor: { conversation_id: 's', hook_event_name: 'beforeShellExecution', command: 'ls', cwd: '/' },
  }
  const denials: Record<HookHost, object> = {
    claude: { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } },
    codex: { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } },
    copilot: { permissionDecision: 'deny' },
    gemini: { decision: 'deny' },
    cursor: { permission: 'deny' },
  }
  for (const host of HOOK_HOSTS) {
    const { code, answer } = await runHook(commands[host] ?? '', messages[host])
    expect({ code, answer: JSON.parse(answer) }, host).toMatchObject({ code: 0, answer: denials[host] })
    expect(answer).toContain('cannot be reached')
    expect((await runHook(commands[host] ?? '', [])).code, host).toBe(2)
  }
  // A report that is lost stops nothing.
  const report = await runHook(commands.claude ?? '', { ...claude, hook_event_name: 'PostToolUse', tool_response: 'x' })
  expect(report).toMatchObject({ code: 0, answer: '{}\n' })
})

test('a hook whose installation or Node is gone denies the calls of hosts that run them otherwise, and its lost reports stop nothing', async () => {
  const { home, connect } = await start()
  const asking = { codex: ['PreToolUse', 'PermissionRequest'], gemini: ['BeforeTool'] }
  const telling = { codex: ['PostToolUse'], gemini: ['AfterTool', 'SessionEnd'] }
  for (const host of ['codex', 'gemini'] as const) {
    const file = join(home, FILES[host])
    await connect(host, '--yes')
    const written = readFileSync(file, 'utf8')
    const { hooks } = JSON.parse(written)
    const commandOf = (event: string): string => hooks[event][0].hooks[0].command
    const goneWays = ['main.js', process.execPath].map((path) => (command: string) => command.replace(path, `${path}.gone`))
    for (const gone of goneWays) {
      for (const event of asking[host]) {
        const { code, errors } = await runHook(gone(commandOf(event)), {})
        expect({ code, hasReason: errors.trim() !== '' }, `${host} ${event}`).toEqual({ code: 2, hasReason: true })
      }
      // To some hosts 2 says that the result of a call is not to be used.
      for (const event of telling[host]) expect((await runHook(gone(commandOf(event)), {})).code, `${host} ${event}`).not.toBe(2)
    }
    // What an earlier version wrote is found, proved, replaced and removed like this.
    write(file, written.replaceAll(' || exit 2', ''))
    expect((await connect(host, '--yes')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(written)
    write(file, written.replaceAll(' || exit 2', ''))
    expect((await connect(host, '--undo', '--yes')).code).toBe(0)
    expect(existsSync(file)).toBe(false)
  }
})

test.each(['codex', 'gemini'] as const)(
  'a hook that %s gives up while people are asked ends with its shell, and its card is closed',
  async (host) => {
    const { server, home, connect } = await start([])
    await connect(host, '--yes')
    const { hooks } = JSON.parse(readFileSync(join(home, FILES[host]), 'utf8'))
    const [event, tool] = host === 'gemini' ? ['BeforeTool', 'run_shell_command'] : ['PreToolUse', 'Bash']
    const shell = spawn('bash', ['-c', hooks[event][0].hooks[0].command], { stdio: ['pipe', 'ignore', 'ignore'] })
    shell.stdin.end(
      JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: event, tool_name: tool, tool_input: { command: 'npm run deploy' } }),
    )
    const { id } = await waiting(server)
    shell.kill()
    expect(await settled(server, id)).toMatchObject({ state: 'cancelled', outcome: { status: 'withdrawn' } })
  },
)

test.each(['copilot', 'cursor'] as const)(
  '%s is told to report the result of a call, its failure, and the end of a session',
  async (host) => {
    const { home, connect } = await start()
    await connect(host, '--yes')
    const { hooks } = JSON.parse(readFileSync(join(home, FILES[host]), 'utf8'))
    const about: JsonObject =
      host === 'copilot'
        ? { sessionId: 's', toolName: 'bash', error: 'no' }
        : { conversation_id: 's', tool_name: 'Shell', error_message: 'no' }
    for (const [event, kind] of Object.entries({ postToolUse: 'report', postToolUseFailure: 'report', sessionEnd: 'ended' })) {
      expect(JSON.stringify(hooks[event])).toContain(` hook ${host} `)
      expect(HOOK_SHAPES[host].read({ ...about, hook_event_name: event }, event).kind).toBe(kind)
    }
  },
)
