import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export const STATUSES = ['pending', 'processing', 'shipped', 'cancelled'] as const
export type OrderStatus = (typeof STATUSES)[number]

// The constraints repeat what the code checks: they hold when a person edits the file, or when the code is wrong.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS product (
  id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
  stock INTEGER NOT NULL CHECK (stock >= 0)
) STRICT;

CREATE TABLE IF NOT EXISTS shop_order (
  id TEXT PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE CHECK (number > 0),
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'shipped', 'cancelled')),
  customer_name TEXT,
  customer_email TEXT,
  total_cents INTEGER NOT NULL CHECK (total_cents >= 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL CHECK (updated_at >= created_at)
) STRICT;
CREATE INDEX IF NOT EXISTS shop_order_by_status ON shop_order (status, created_at DESC);
CREATE INDEX IF NOT EXISTS shop_order_by_age ON shop_order (created_at DESC);

CREATE TABLE IF NOT EXISTS order_line (
  order_id TEXT NOT NULL REFERENCES shop_order (id),
  position INTEGER NOT NULL CHECK (position > 0),
  product_id TEXT NOT NULL REFERENCES product (id),
  name TEXT NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  unit_price_cents INTEGER NOT NULL CHECK (unit_price_cents >= 0),
  PRIMARY KEY (order_id, position),
  UNIQUE (order_id, product_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS effect (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('order_placed', 'status_changed')),
  order_id TEXT NOT NULL REFERENCES shop_order (id),
  idempotency_key TEXT,
  before TEXT NOT NULL CHECK (json_valid(before)),
  after TEXT NOT NULL CHECK (json_valid(after))
) STRICT;
CREATE INDEX IF NOT EXISTS effect_by_order ON effect (order_id, id);
CREATE INDEX IF NOT EXISTS effect_by_key ON effect (idempotency_key, id);
CREATE TRIGGER IF NOT EXISTS effect_never_changes BEFORE UPDATE ON effect BEGIN SELECT RAISE(ABORT, 'effects are append-only'); END;
CREATE TRIGGER IF NOT EXISTS effect_never_goes BEFORE DELETE ON effect BEGIN SELECT RAISE(ABORT, 'effects are append-only'); END;

CREATE TABLE IF NOT EXISTS first_answer (
  idempotency_key TEXT PRIMARY KEY,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body)),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`

/** Opens the shop's database file (created with its folder and schema where missing). Close it with `close()`. */
export function openDatabase(databaseFile: string): DatabaseSync {
  mkdirSync(dirname(databaseFile), { recursive: true })
  const db = new DatabaseSync(databaseFile, { timeout: 5_000, enableForeignKeyConstraints: true })
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  transaction(db, () => db.exec(SCHEMA))
  return db
}

/**
 * Runs `work` in one write transaction: all of it or nothing. IMMEDIATE takes the write lock first, so that what `work` reads cannot
 * have changed by the time it writes, even with another process on the file.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
