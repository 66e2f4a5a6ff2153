import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'
import { temporaryFolder } from './test-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'packages/server/src/main.js')

/** A program that a page leaves running. */
export interface Background {
  /** Its output so far. */
  readonly output: string
  /** Resolves when it has printed this. */
  printed(words: string): Promise<void>
  stop(): Promise<void>
}

/** A folder in which the commands of a page run as its reader types them. What a block exports is there for the next one. */
export interface PageShell extends AsyncDisposable {
  readonly folder: string
  write(name: string, content: string): void
  /** @returns What it printed on standard output. @throws Error when it fails. */
  run(commands: string): Promise<string>
  /** Starts a command that goes on running, and waits until it has printed `ready`. */
  start(command: string, ready: string): Promise<Background>
}

/** Opens such a folder. `npx countersign` there is this checkout's command, and imports find this checkout's packages. */
export function openPageShell(environment: Record<string, string>): PageShell {
  const temporary = temporaryFolder()
  const folder = join(temporary.path, 'project')
  const bin = join(temporary.path, 'bin')
  mkdirSync(folder)
  mkdirSync(bin)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" --conditions=countersign-source --disable-warning=ExperimentalWarning "${MAIN}" "$@"\n`,
  )
  chmodSync(join(bin, 'npx'), 0o755)
  const env = { ...COMPILE_CACHE, ...environment, PATH: `${bin}:${process.env.PATH}`, HOME: temporary.path }
  const exported = join(temporary.path, 'exported.sh')
  writeFileSync(exported, '')
  const running = new Set<Background>()

  const bash = (commands: string) =>
    spawn('bash', ['-c', `set -e\n. "${exported}"\n${commands}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })

  return {
    folder,
    write: (name, content) => writeFileSync(join(folder, name), `${content}\n`),
    async run(commands) {
      const child = bash(`${commands}\nexport -p > "${exported}"`)
      const ended = once(child, 'close')
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      const [code] = await ended
      if (code !== 0) throw new Error(`${commands}\nended with ${code}: ${stdout}${stderr}`)
      return stdout
    },
    async start(command, ready) {
      const background = listenTo(bash(`exec ${command}`))
      running.add(background)
      await background.printed(ready)
      return background
    },
    async [Symbol.asyncDispose]() {
      for (const background of running) await background.stop()
      temporary[Symbol.dispose]()
    },
  }
}

function listenTo(child: ChildProcess): Background {
  const ended = once(child, 'close')
  const waiting = new Set<() => void>()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) throw new Error('the program has no output')
    createInterface(stream).on('line', (line) => {
      output += `${line}\n`
      for (const look of waiting) look()
    })
  }
  return {
    get output() {
      return output
    },
    printed: (words) =>
      new Promise((resolve, reject) => {
        const look = () => output.includes(words) && resolve()
        waiting.add(look)
        look()
        void ended.then(() => reject(new Error(`the program ended before it printed "${words}": ${output}`)))
      }),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
