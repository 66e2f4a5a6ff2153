export { type Guard, type GuardOptions, type Held, type InstanceSettings, openGuard } from './guard.ts'
export { countOpenActions, type OpenActions, readOpenActions } from './open-actions.ts'
