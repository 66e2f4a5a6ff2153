const WHY = 'This database was restored from a backup: what was approved then may have been carried out since.'

/**
 * The statement that holds a restored database, wherever it is started. Its record hears of that from the first process that starts on it,
 * which finds a hold on a database that no process is bound to.
 */
export const holdRestored = (nowMs: number): string =>
  `update instance set held_at = ${Math.round(nowMs)}, held_why = '${WHY}', bound_at = null`
