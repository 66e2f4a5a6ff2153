export { readStats } from './read.ts'
