export type { OpenApiInput } from './section.ts'
export { openApiSource as openapi } from './source.ts'
export { openApiStarter } from './starter.ts'
