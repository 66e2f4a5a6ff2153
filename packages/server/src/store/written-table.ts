/** Stands for a table that the text of a statement does not show. */
export const ANY_TABLE = '?'

const known = new Map<string, string | undefined>()

/** Returns the table that a statement writes to, {@link ANY_TABLE} when that is unknown; undefined for a statement that only reads. */
export function tableWrittenBy(text: string): string | undefined {
  if (known.has(text)) return known.get(text)
  const reads = /^\s*(select|with)\b/i.test(text) && !/\b(insert|replace|update|delete)\b/i.test(text)
  const table = reads ? undefined : (/^\s*(?:insert into|update|delete from) "(\w+)"/i.exec(text)?.[1] ?? ANY_TABLE)
  // Statements with a fixed text are few; others vary without end.
  if (known.size < 1_000) known.set(text, table)
  return table
}
