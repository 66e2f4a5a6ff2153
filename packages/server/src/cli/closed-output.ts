import { complain } from './say.ts'

/**
 * Lets a command go on when the reader of its output has closed it, as in `serve | head -1`: people decide in the console, and a command
 * must not stop halfway. Output that is lost for another reason, such as a full disk, makes the exit code 1.
 */
export function tolerateClosedOutput(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // EIO is what a closed terminal answers.
    if (code === 'EPIPE' || code === 'EIO') return
    process.exitCode = 1
    complain(`the output cannot be written: ${message}`)
  })
  process.stderr.on('error', () => undefined)
}
