import type { Preferences } from '@countersign/core'
import { preferences, type Tx } from '../../store/index.ts'

const AT_FIRST: Preferences = { quietHours: null, undoTime: null, density: 'comfortable', views: [] }

/** Returns one part of a person's preferences, which is stored by its name. */
export function* preferenceOf<Name extends keyof Preferences>(principalId: string, name: Name): Tx<Preferences[Name]> {
  const row = yield* preferences.findPreference.first({ principal_id: principalId, name })
  return row ? JSON.parse(row.value) : AT_FIRST[name]
}

export function* preferencesOf(principalId: string): Tx<Preferences> {
  return {
    quietHours: yield* preferenceOf(principalId, 'quietHours'),
    undoTime: yield* preferenceOf(principalId, 'undoTime'),
    density: yield* preferenceOf(principalId, 'density'),
    views: yield* preferenceOf(principalId, 'views'),
  }
}
