export { showInvisible, tellApart } from '@countersign/core/text'
export { AlikeNames } from './alike-names.tsx'
