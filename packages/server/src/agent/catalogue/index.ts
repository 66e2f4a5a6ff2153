export { asCalled, hasCatalogue, offeredTools, readCall } from './catalogue.ts'
