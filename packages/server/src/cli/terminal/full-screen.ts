const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
/** Ctrl + Z, which in raw mode is a key like any other. */
const SUSPEND = '\u001a'
/** Longer than it takes until a signal to the own process has stopped it. */
const STOPPED_MS = 100
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export interface FullScreen extends Disposable {
  /** Replaces what is on the screen. Does nothing while another program has the terminal. */
  paint(lines: readonly string[]): void
  /** Gives the ordinary terminal to another program while it runs. */
  lend<T>(run: () => Promise<T>): Promise<T>
}

export interface FullScreenEvents {
  /** Called with what the person typed. */
  onKeys(input: string): void
  /** Called when the screen is empty and has to be painted: the process was stopped and goes on. */
  onResumed(): void
  /** Called when nobody can type any more. */
  onClosed(): void
}

/**
 * Takes the whole terminal and its keys. However the process ends, except by SIGKILL, the terminal is left as it was; so it is while the
 * process is stopped by Ctrl + Z or SIGTSTP.
 */
export function openFullScreen({ onKeys, onResumed, onClosed }: FullScreenEvents): FullScreen {
  const { stdin, stdout } = process
  let isOpen = false
  let isOver = false
  const decoder = new TextDecoder()
  const onData = (data: Buffer) => {
    const [input = '', ...rest] = decoder.decode(data, { stream: true }).split(SUSPEND)
    if (input !== '') onKeys(input)
    // The shell waits for the whole job, which may be `npx` and this process. Keys that were typed after it are dropped.
    if (rest.length > 0) suspend(0)
  }
  const enter = () => {
    if (isOpen) return
    isOpen = true
    stdin.setRawMode(true)
    stdin.resume()
    stdout.write(ENTER)
  }
  const leave = () => {
    if (!isOpen) return
    isOpen = false
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(LEAVE)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    leave()
    process.exit(SIGNALS[signal as keyof typeof SIGNALS])
  }
  const onStop = () => suspend(process.pid)
  const onContinue = () => {
    if (isOpen) again()
  }
  const again = () => {
    stdin.setRawMode(true)
    stdout.write(ENTER)
    onResumed()
  }
  /** @param whom A process; 0 for all of its job. */
  function suspend(whom: number): void {
    const wasOpen = isOpen
    leave()
    process.off('SIGTSTP', onStop)
    process.kill(whom, 'SIGTSTP')
    // Its time passes while the process is stopped. Without a shell that could continue it, the system does not stop it at all.
    setTimeout(() => {
      if (isOver) return
      process.on('SIGTSTP', onStop)
      if (!wasOpen) return
      enter()
      onResumed()
    }, STOPPED_MS)
  }
  process.on('SIGTSTP', onStop).on('SIGCONT', onContinue)
  stdin.on('data', onData).on('end', onClosed).on('error', onClosed)
  stdout.on('error', onClosed)
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal)
  // Before a crash is printed: the alternate screen would take the message with it.
  process.on('uncaughtExceptionMonitor', leave)
  process.on('exit', leave)
  enter()
  return {
    paint(lines) {
      if (isOpen) stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\r\n')}\u001b[J`)
    },
    async lend(run) {
      leave()
      try {
        return await run()
      } finally {
        enter()
      }
    },
    [Symbol.dispose]() {
      isOver = true
      leave()
      process.off('SIGTSTP', onStop).off('SIGCONT', onContinue)
      stdin.off('data', onData).off('end', onClosed).off('error', onClosed)
      stdout.off('error', onClosed)
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal)
      process.off('uncaughtExceptionMonitor', leave)
      process.off('exit', leave)
    },
  }
}
