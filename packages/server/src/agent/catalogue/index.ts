export { asCalled, type Meant, offeredTools, readCall } from './catalogue.ts'
