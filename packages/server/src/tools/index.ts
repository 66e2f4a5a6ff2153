export { MissingPackage, SOURCE_KINDS, type SourceKindName, type SourceSettings } from './source-kinds.ts'
