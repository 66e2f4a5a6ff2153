/** The content of a backup. */
export interface BackupSummary {
  /** When the newest event in it was written, epoch ms; undefined before the first. */
  newestEventAt: number | undefined
  /** Place of the newest event in the log; 0 before the first. */
  position: number
  /** Actions, grouped by what still has to be done about them. */
  waiting: number
  approved: number
  executing: number
  /** Its newest migration. */
  migration: string
}

/** The query for the summary, for databases of either kind. */
export const SUMMARY_QUERY = `select
  (select max(id) from event) as position,
  (select created_at from event order by id desc limit 1) as newest_event_at,
  (select count(*) from action where state = 'proposed') as waiting,
  (select count(*) from action where state = 'approved') as approved,
  (select count(*) from action where state = 'executing') as executing,
  (select name from migration order by number desc limit 1) as migration`

export const toSummary = (row: Record<string, unknown>): BackupSummary => ({
  newestEventAt: row.newest_event_at === null ? undefined : Number(row.newest_event_at),
  position: Number(row.position ?? 0),
  waiting: Number(row.waiting),
  approved: Number(row.approved),
  executing: Number(row.executing),
  migration: String(row.migration),
})
