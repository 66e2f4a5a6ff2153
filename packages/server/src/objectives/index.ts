export { openObjectiveStore } from './objective-store.ts'
export { viewChange, viewObjective } from './view.ts'
