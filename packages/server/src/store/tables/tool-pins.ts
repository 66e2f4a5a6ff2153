import { question } from '../query.ts'
import type { Schema, ToolPinRow } from './schema.ts'

export const pinsOfGroup = question<{ group_name: string }, ToolPinRow>((db, p) =>
  db.selectFrom('tool_pin').selectAll().where('group_name', '=', p.group_name).orderBy('tool'),
)

/** Keeps an existing pin. */
export const insertPin = question<{ [K in keyof ToolPinRow]: ToolPinRow[K] }>((db, p) =>
  db
    .insertInto('tool_pin')
    .values({
      group_name: p.group_name,
      tool: p.tool,
      hash: p.hash,
      definition: p.definition,
      pinned_at: p.pinned_at,
    } satisfies Schema['tool_pin'])
    .onConflict((conflict) => conflict.doNothing()),
)

/** Accepts another definition, if the pin is still the one that it was compared with. */
export const acceptPin = question<{ [K in keyof ToolPinRow]: ToolPinRow[K] } & { was: string }>((db, p) =>
  db
    .updateTable('tool_pin')
    .set({ hash: p.hash, definition: p.definition, pinned_at: p.pinned_at })
    .where('group_name', '=', p.group_name)
    .where('tool', '=', p.tool)
    .where('hash', '=', p.was),
)

export const replacePin = question<{ [K in keyof ToolPinRow]: ToolPinRow[K] }>((db, p) =>
  db
    .updateTable('tool_pin')
    .set({ hash: p.hash, definition: p.definition, pinned_at: p.pinned_at })
    .where('group_name', '=', p.group_name)
    .where('tool', '=', p.tool),
)
