import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listMigrations } from './migrate.ts'

/** The first digits of SHA-256. A new migration is a new line; a line never changes. */
const DIGESTS: Readonly<Record<string, string>> = {
  '0001_schema.sql': 'e5d9991c397eb19b',
  '0002_disabled.sql': 'a36b00dc1b6dc7f8',
  '0003_waits_for.sql': '95de8a66485ca58c',
  '0004_context.sql': 'be3a8c0496dc644f',
  '0005_times.sql': '3e4474a4fa5f9c7c',
  '0006_registered_tool.sql': 'd5092ddc6874de8f',
  '0007_starts_at.sql': '24440560f66383ff',
  '0008_event_places.sql': 'b22d85ac2714816b',
  '0009_session_thread.sql': '5fb803d6d323b3e8',
  '0010_embed_tokens.sql': 'f89002eaa51531bc',
  '0011_callbacks.sql': '9d2e11f6ae7f70c8',
  '0012_extended.sql': 'eb6b5097301d80ed',
  '0013_policy_text.sql': '0d5d967ee19e4788',
  '0014_push.sql': '3adcd13971b437e9',
  '0015_snooze.sql': '1d6fd8ead5c2c1a7',
  '0016_assigned.sql': '18f94551a30efa69',
  '0017_seen.sql': 'ae962987056c685c',
  '0018_settled.sql': '27a69c73c143f04b',
  '0019_webhook_times.sql': 'dd74f39476ad5bec',
  '0020_orders.sql': '68d895ed69ac280b',
  '0021_vote_counts.sql': '9e504d87590bc0ab',
  '0022_secret_used.sql': '538487676b24afa1',
}

const digestOf = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(new URL(`./migrations/${name}`, import.meta.url)))
    .digest('hex')
    .slice(0, 16)

test('a migration is never changed, renamed or joined with another: databases of any commit have those before them', () => {
  const found = Object.fromEntries(listMigrations().map(({ name }) => [name, digestOf(name)]))
  expect(found).toEqual(DIGESTS)
})
