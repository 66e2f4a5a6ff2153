export { type Guard, type GuardOptions, type Held, type InstanceSettings, openGuard } from './guard.ts'
