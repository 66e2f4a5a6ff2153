export { showInvisible, showLines, showProse } from './show-invisible.ts'
