export type { OpenApiInput } from './section.ts'
export { openApiSource as openapi } from './source.ts'
