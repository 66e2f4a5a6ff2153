export type { KeyResultValues, ObjectiveStore, ObjectiveWrite, Written } from './kept.ts'
export { type ObjectivesInput, objectives } from './source.ts'
