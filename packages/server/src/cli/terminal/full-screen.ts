const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export interface FullScreen extends Disposable {
  /** Replaces what is on the screen. Does nothing while another program has the terminal. */
  paint(lines: readonly string[]): void
  /** Gives the ordinary terminal to another program while it runs. */
  lend<T>(run: () => Promise<T>): Promise<T>
}

/**
 * Takes the whole terminal and its keys. However the process ends, except by SIGKILL, the terminal is left as it was.
 * @param onKeys Called with what the person typed.
 * @param onClosed Called when nobody can type any more.
 */
export function openFullScreen(onKeys: (input: string) => void, onClosed: () => void): FullScreen {
  const { stdin, stdout } = process
  let isOpen = false
  const decoder = new TextDecoder()
  const onData = (data: Buffer) => onKeys(decoder.decode(data, { stream: true }))
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
      leave()
      stdin.off('data', onData).off('end', onClosed).off('error', onClosed)
      stdout.off('error', onClosed)
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal)
      process.off('uncaughtExceptionMonitor', leave)
      process.off('exit', leave)
    },
  }
}
