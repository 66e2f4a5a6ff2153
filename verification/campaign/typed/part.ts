import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommand } from '@countersign/core'
import { databaseOf } from '../../testing/accept-key.ts'
import { BOOTSTRAP_KEY } from '../../testing/bootstrap-key.ts'
import { startChildServer } from '../../testing/child-server.ts'
import { createDatabase, startPostgres } from '../../testing/postgres.ts'
import { startTarget } from '../../testing/target.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import type { Part, PartReport } from '../part.ts'
import { runTyped, type TypedReport, typedSetup } from './run-typed.ts'
import { TEXTS } from './texts.ts'

const NEEDED = 10_000
const SPEAKERS = 9

/** A quarter of them where each text is a transaction behind a socket. */
const textsOn = (kind: 'sqlite' | 'postgres'): readonly string[] => (kind === 'sqlite' ? TEXTS : TEXTS.filter((_, i) => i % 4 === 0))

/** Sends everything that people type over HTTP: only the exact words of the right person decide. */
export const typedPart: Part = async ({ minutes, database, say }): Promise<PartReport> => {
  const runs: (Omit<TypedReport, 'violations'> & { database: string; texts: number })[] = []
  const violations = TEXTS.filter((text) => readCommand(text) !== undefined).map((text) => `${JSON.stringify(text)} is read as a command`)
  const missing: string[] = []
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    const { violations: found, ...run } = await onOne(kind, endsAt, (line) => say(`typed ${kind}: ${line}`))
    violations.push(...found.map((sentence) => `${kind}: ${sentence}`))
    const sent = Object.values(run.sent)
    if (sent.length < SPEAKERS || sent.some((count) => count < NEEDED)) missing.push(`${kind}: not everybody said ${NEEDED} texts`)
    runs.push({ database: kind, texts: textsOn(kind).length, ...run })
  }
  return { violations, missing, figures: runs }
}

async function onOne(kind: 'sqlite' | 'postgres', endsAt: number, say: (line: string) => void): Promise<TypedReport> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const { config, scripts } = typedSetup(target)
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify(config))
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(folder.path, `${name}.json`), JSON.stringify({ steps }))
  const environment: Record<string, string> = { COUNTERSIGN_MAX_REQUESTS: '0', COUNTERSIGN_MAX_FAILURES: '0' }
  if (kind === 'postgres') {
    const cluster = stack.use(await startPostgres())
    environment.DATABASE_URL = await createDatabase(cluster.url('postgres'))
  }
  const dataDir = join(folder.path, 'data')
  const { admin } = stack.use(await startChildServer({ configFile, dataDir, environment }))
  const database = databaseOf(dataDir, environment)
  return await runTyped({ admin, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` }, database, texts: textsOn(kind), endsAt, say })
}
