import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Where a server says that it listens. @throws Error when it ends before that, with what it wrote to `stderr` if that is a pipe. */
export async function readAddress({ stdout, stderr }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('the child has no output')
  let complaint = ''
  stderr?.on('data', (chunk) => {
    complaint += chunk
  })
  for await (const line of createInterface(stdout)) {
    const url = /ready at (http:\S+)/.exec(line)?.[1]
    if (url) {
      stdout.resume()
      return url
    }
  }
  throw new Error(`the server ended before it listened: ${complaint}`)
}
