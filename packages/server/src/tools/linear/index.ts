export { type LinearInput, linear } from './source.ts'
