export { type ObjectivesInput, objectives } from './source.ts'
export { objectivesStarter } from './starter.ts'
