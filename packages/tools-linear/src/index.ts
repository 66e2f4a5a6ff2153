export { type LinearInput, linear } from './source.ts'
export { linearStarter } from './starter.ts'
