import { createPart } from './parts.ts'

/** The outcome of an action with its evidence. */
export const SETTLED = createPart(() => import('./settled.tsx'))
