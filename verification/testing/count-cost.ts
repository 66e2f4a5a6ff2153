import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import { StatementGroup } from '../../packages/server/src/store/postgres/statement-group.ts'

/**
 * Texts of the statements that this process sends to either database, until it is disposed of: in their order; those of each packet to
 * Postgres; and the packets of each transaction there, where a statement outside any is one of its own.
 */
export function countStatements() {
  const sent: string[] = []
  const packets: string[][] = []
  const transactions: string[][][] = []
  const open = new WeakMap<Client, string[][]>()
  const groups = new WeakMap<object, string[]>()
  const { prepare } = DatabaseSync.prototype
  const { query } = Client.prototype
  const { add } = StatementGroup.prototype
  DatabaseSync.prototype.prepare = function (...args) {
    const statement: StatementSync = prepare.apply(this, args)
    for (const name of ['run', 'get', 'all'] as const) {
      const real = statement[name].bind(statement) as (...values: unknown[]) => never
      statement[name] = (...values: unknown[]) => {
        sent.push(String(args[0]))
        return real(...values)
      }
    }
    return statement
  }
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    const [first] = args
    const texts =
      first instanceof StatementGroup
        ? (groups.get(first) ?? [])
        : [typeof first === 'string' ? first : String((first as { text?: string }).text)]
    sent.push(...texts)
    packets.push(texts)
    const transaction = open.get(this) ?? transactions[transactions.push([]) - 1] ?? []
    transaction.push(texts)
    for (const text of texts) {
      if (/^(begin|start)\b/i.test(text)) open.set(this, transaction)
      else if (/^(commit|rollback)\b/i.test(text)) open.delete(this)
    }
    return (query as (...values: unknown[]) => never).apply(this, args)
  } as typeof query
  StatementGroup.prototype.add = function (statement, onAnswer) {
    const texts = groups.get(this) ?? []
    texts.push(statement.text)
    groups.set(this, texts)
    return add.call(this, statement, onAnswer)
  }
  return {
    sent,
    packets,
    transactions,
    [Symbol.dispose]() {
      DatabaseSync.prototype.prepare = prepare
      Client.prototype.query = query
      StatementGroup.prototype.add = add
    },
  }
}

/** Counts the calls of `JSON.parse` and `JSON.stringify` in this process, until it is disposed of. */
export function countJson() {
  const { parse, stringify } = JSON
  const counted = {
    parsed: 0,
    stringified: 0,
    [Symbol.dispose]() {
      Object.assign(JSON, { parse, stringify })
    },
  }
  JSON.parse = (...args) => {
    counted.parsed++
    return parse(...args)
  }
  JSON.stringify = (...args: unknown[]) => {
    counted.stringified++
    return (stringify as (...given: unknown[]) => string)(...args)
  }
  return counted
}

const PAGE_BYTES = 4_096
const FRAME_BYTES = PAGE_BYTES + 24

/** The writes of an open embedded database: pages of its log, which was not begun again yet, and bytes of its file. */
export function sizesOf(dataDir: string): { logPages: number; bytes: number } {
  const file = join(dataDir, 'countersign.db')
  using db = new DatabaseSync(file)
  const pages = Number(db.prepare('pragma page_count').get()?.page_count)
  return { logPages: Math.floor(statSync(`${file}-wal`).size / FRAME_BYTES), bytes: pages * PAGE_BYTES }
}
