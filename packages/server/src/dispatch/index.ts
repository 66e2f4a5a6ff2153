export { createEventHub, type EventHub } from './event-hub.ts'
export { createDispatch, type Dispatch, type Work } from './in-process.ts'
export { createTimers, type Timers } from './timers.ts'
