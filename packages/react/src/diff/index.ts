export { DiffText } from './diff-text.tsx'
export { MarkedText } from './marked-text.tsx'
