import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

/**
 * Runs a program in a pseudo-terminal, passes bytes both ways, and exits with its code (128 and the number of the signal that ended it).
 * The first line of its standard error is the process id of the program. `NUL rows columns LF` among the input changes the size.
 */
const PTY = `
import fcntl, os, pty, re, select, struct, sys, termios
def resize(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
rows, columns = int(sys.argv[1]), int(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
os.write(2, b'%d\\n' % pid)
watched = [fd, 0]
while True:
    ready, _, _ = select.select(watched, [], [])
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b''
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            watched = [fd]
        for size in re.findall(rb'\\0(\\d+) (\\d+)\\n', data):
            resize(int(size[0]), int(size[1]))
        data = re.sub(rb'\\0\\d+ \\d+\\n', b'', data)
        if data:
            os.write(fd, data)
_, status = os.waitpid(pid, 0)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
`

export interface TerminalSize {
  rows: number
  columns: number
}

/** Ends what hangs before the test's own limit does, which would not say what was on the screen. */
const HANGS_MS = 240_000

/** The words that start `countersign` with these arguments. */
export const commandWith = (args: readonly string[]): string[] => [
  ...[process.execPath, '--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN],
  ...args,
]

/** Starts `countersign` in a real pseudo-terminal of python3. */
export const openTerminal = (args: readonly string[], environment: Record<string, string>, size?: TerminalSize) =>
  openProgram(commandWith(args), environment, size)

/** Starts a program in a real pseudo-terminal of python3. */
export function openProgram(
  words: readonly string[],
  environment: Record<string, string>,
  size: TerminalSize = { rows: 30, columns: 100 },
) {
  const child = spawn('python3', ['-c', PTY, String(size.rows), String(size.columns), ...words], {
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, TERM: 'xterm', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const pid = once(createInterface({ input: child.stderr }), 'line').then(([line]) => Number(line))
  let output = ''
  let wake = Promise.withResolvers<void>()
  const decoder = new TextDecoder()
  const arrived = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  child.stdout.on('data', (data: Buffer) => {
    output += decoder.decode(data, { stream: true })
    arrived()
  })
  const exit = Promise.withResolvers<number | null>()
  // It may have ended before its last output has arrived.
  let isClosed = false
  child.on('close', (code) => {
    isClosed = true
    exit.resolve(code)
    arrived()
  })
  return {
    /** Everything that was written to the terminal. */
    get output() {
      return output
    },
    /** The text on the screen, without styles: the last whole painting. */
    get screen() {
      const end = output.lastIndexOf('\u001b[J')
      const start = output.lastIndexOf('\u001b[H', end)
      return output.slice(start, end).replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|\r/g, '')
    },
    press: (keys: string) => child.stdin.write(keys),
    resize: ({ rows, columns }: TerminalSize) => child.stdin.write(`\0${rows} ${columns}\n`),
    kill: async (signal: NodeJS.Signals) => process.kill(await pid, signal),
    /** Resolves once the screen fits; rejects when the program ends before, or with what the screen shows when it hangs. */
    async until(fits: (screen: string) => boolean): Promise<void> {
      const hangs = AbortSignal.timeout(HANGS_MS)
      hangs.addEventListener('abort', arrived)
      try {
        while (!fits(this.screen)) {
          if (isClosed) throw new Error(`the program ended: ${output}`)
          if (hangs.aborted) throw new Error(`the screen does not come:\n${this.screen || output}`)
          await wake.promise
        }
      } finally {
        hangs.removeEventListener('abort', arrived)
      }
    },
    /** Of the program. */
    pid,
    exit: exit.promise,
    /** Closes the terminal. */
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}
