export { SOURCE_KINDS, type SourceKindName, type SourceSettings } from './source-kinds.ts'
