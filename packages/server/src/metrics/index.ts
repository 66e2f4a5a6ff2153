export { readMetrics } from './read.ts'
export { createTally, type Tally } from './tally.ts'
export { writeMetrics } from './text.ts'
