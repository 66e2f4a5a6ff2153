import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqlite } from '../../../packages/server/src/store/sqlite/sqlite.ts'
import type { Witness } from './workload.ts'

interface ActionState {
  id: string
  what: string
  state: string
  attempt: number
}

const AFTER = {
  approve: new Set(['approved', 'executing', 'succeeded', 'failed', 'outcome_unknown']),
  decline: new Set(['declined']),
}

/**
 * Opens a data folder as a server does, and says what of it contradicts what was seen from outside before `untilNs`.
 * @returns A sentence for each thing that is missing or damaged.
 */
export async function checkData(dataDir: string, witness: Witness, untilNs?: bigint): Promise<string[]> {
  const isBefore = ({ ns }: { ns: bigint }) => untilNs === undefined || ns < untilNs
  const proposed = witness.proposed.filter(isBefore)
  if (!existsSync(join(dataDir, 'countersign.db'))) return proposed.length === 0 ? [] : ['the database is gone']
  try {
    await openSqlite({ dataDir, onCommitted: () => undefined }).close()
  } catch (error) {
    return [`the database cannot be opened: ${error instanceof Error ? error.message : error}`]
  }
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    const problems: string[] = []
    const integrity = String(db.prepare('pragma integrity_check').get()?.integrity_check)
    if (integrity !== 'ok') problems.push(`integrity_check says ${integrity}`)
    const actions = db.prepare(`select id, arguments ->> 'what' as what, state, attempt from action`).all() as unknown as ActionState[]
    const byWhat = new Map(actions.map((action) => [action.what, action]))
    const votes = new Set(
      db
        .prepare('select action_id, verdict from vote')
        .all()
        .map(({ action_id, verdict }) => `${action_id} ${verdict}`),
    )
    for (const { what } of proposed) if (!byWhat.has(what)) problems.push(`${what} was accepted and is gone`)
    for (const { id, what, verdict } of witness.decided.filter(isBefore)) {
      const state = byWhat.get(what)?.state ?? 'gone'
      if (!votes.has(`${id} ${verdict}`) || !AFTER[verdict].has(state))
        problems.push(`${verdict} of ${what} was answered, and it is ${state}`)
    }
    for (const { what } of witness.effects.filter(isBefore)) {
      const action = byWhat.get(what)
      if (!action || action.attempt === 0) problems.push(`${what} was sent, and no attempt is written down (${action?.state ?? 'gone'})`)
    }
    return problems
  } finally {
    db.close()
  }
}
