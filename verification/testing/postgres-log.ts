import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** The settings of `postgresql.conf` with which {@link ServerLog} can read what the server writes. */
export const LOG_SETTINGS = {
  log_line_prefix: "'%m [%p] %q<%d> '",
  // Without it, a circle that the server resolves by letting one of those who queue pass the others is never mentioned.
  log_lock_waits: 'on',
}

const CIRCLE = /<(?<database>[^>]*)> (ERROR: {2}deadlock detected|LOG: {2}process \d+ avoided deadlock)/
const NEXT = /^\d{4}-\d\d-\d\d .*(LOG|ERROR|FATAL|PANIC|WARNING): {2}/
/** Lines kept of what the server says about one circle: its detail names each statement. */
const MOST_LINES = 20

/** Reads what a Postgres server writes to standard error: when it is ready, and which transactions waited for each other in a circle. */
export class ServerLog {
  #circles: { database: string; lines: string[] }[] = []
  #open: string[] | undefined

  /** Waits until the server says that it is ready, and returns its process id. @throws Error when it ends before. */
  follow(stderr: Readable): Promise<number> {
    const lines = createInterface(stderr)
    let said = ''
    let pid = 0
    let isReady = false
    return new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        this.#read(line)
        if (isReady) return
        said += `${line}\n`
        pid ||= Number(/\[(\d+)\] LOG: {2}starting PostgreSQL/.exec(line)?.[1] ?? 0)
        isReady = pid > 0 && /ready to accept (read-only )?connections/.test(line)
        if (isReady) resolve(pid)
      })
      lines.on('close', () => reject(new Error(`Postgres ended before it was ready:\n${said}`)))
    })
  }

  /**
   * Returns what the server said about each circle in one of its databases, and forgets it. After a second the server ends a circle by
   * failing one of the transactions, which a store begins again: nobody notices more than a slow answer.
   * @param database Default: all of them.
   */
  takeCircles(database?: string): string[] {
    const isAsked = (one: { database: string }) => database === undefined || one.database === database
    const taken = this.#circles.filter(isAsked)
    this.#circles = this.#circles.filter((one) => !isAsked(one))
    return taken.map(({ lines }) => lines.join('\n'))
  }

  #read(line: string): void {
    const database = CIRCLE.exec(line)?.groups?.database
    if (database !== undefined) {
      this.#open = [line]
      this.#circles.push({ database, lines: this.#open })
    } else if (this.#open && !NEXT.test(line) && this.#open.length < MOST_LINES) {
      this.#open.push(line)
    } else {
      this.#open = undefined
    }
  }
}
