export type { KeyResultValues, ObjectiveStore, ObjectiveWrite, Written } from './objective-store.ts'
export { type ObjectivesInput, objectives } from './source.ts'
