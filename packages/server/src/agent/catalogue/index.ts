export { asCalled, offeredTools, readCall } from './catalogue.ts'
