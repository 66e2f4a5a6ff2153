import type { QuietHours, SavedView } from '@countersign/core'
import { preferences, type Tx } from '../../store/index.ts'

/** The names under which parts of a person's preferences are stored. */
export const QUIET_HOURS = 'quietHours'

export function* quietHoursOf(principalId: string): Tx<QuietHours | null> {
  const row = yield* preferences.findPreference.first({ principal_id: principalId, name: QUIET_HOURS })
  return row ? JSON.parse(row.value) : null
}

export const VIEWS = 'views'

export function* viewsOf(principalId: string): Tx<SavedView[]> {
  const row = yield* preferences.findPreference.first({ principal_id: principalId, name: VIEWS })
  return row ? JSON.parse(row.value) : []
}
