export { Find } from './find.tsx'
export { FoldedRows } from './folded-rows.tsx'
export { FoldedText } from './folded-text.tsx'
export { ShownValue } from './values/shown-value.tsx'
