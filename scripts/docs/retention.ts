import { TABLES } from '../../verification/campaign/soak/tables.ts'
import { cell } from './schema-table.ts'

/** Every table of the database by its fate: its rows are deleted, bounded or kept. */
export function retentionReference(): string {
  const all = Object.entries(TABLES)
  const deleted = all.flatMap(([name, one]) =>
    one.fate === 'deleted' ? [`| \`${name}\` | ${cell(one.holds)} | ${cell(one.after)} |`] : [],
  )
  const bounded = all.flatMap(([name, one]) => (one.fate === 'bounded' ? [`| \`${name}\` | ${cell(one.atMost)} |`] : []))
  const kept = all.flatMap(([name, one]) => (one.fate === 'kept' ? [`| \`${name}\` | ${cell(one.holds)} |`] : []))
  return [
    `### Deleted by the server\n\n| table | holds | deleted |\n|---|---|---|\n${deleted.join('\n')}`,
    `### Bounded\n\n| table | at most |\n|---|---|\n${bounded.join('\n')}`,
    `### Kept\n\nThese tables grow with use. [Deleting a session](/concepts/sessions.md) deletes a part of its rows.\n\n| table | holds |\n|---|---|\n${kept.join('\n')}`,
  ].join('\n\n')
}
