import { pino } from 'pino'
import { systemClock } from '../../../packages/server/src/clock.ts'
import { openGuard } from '../../../packages/server/src/instance/index.ts'
import { openSqlite } from '../../../packages/server/src/store/index.ts'

const SETTINGS = { hold: false, acceptCopy: false, file: undefined, token: undefined }

/**
 * Starts on a data folder as a server does.
 * @returns Why the server would not start or would hold everything; undefined when it would start normally.
 */
export async function checkStart(dataDir: string): Promise<string | undefined> {
  try {
    const store = openSqlite({ dataDir, onCommitted: () => undefined })
    try {
      const database = { kind: 'sqlite', dataDir } as const
      const guard = await openGuard({ store, database, settings: SETTINGS, clock: systemClock, log: pino({ level: 'silent' }) })
      guard.close()
      return guard.held && `everything is held: ${guard.held.why}`
    } finally {
      await store.close()
    }
  } catch (error) {
    return `the server does not start: ${error instanceof Error ? error.message : error}`
  }
}
