const WHY = 'This database was restored from a backup: what was approved then may have been carried out since.'

/**
 * Returns the statement that holds a restored database, wherever it is started. The first process that starts on it finds a hold on an
 * unbound database, and adds it to the record.
 */
export const holdRestored = (nowMs: number): string =>
  `update instance set held_at = ${Math.round(nowMs)}, held_why = '${WHY}', bound_at = null`
