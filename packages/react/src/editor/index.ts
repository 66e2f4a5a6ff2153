export { ArgumentsEditor, type ArgumentsEditorProps, ToolArgumentsEditor, type ToolArgumentsEditorProps } from './arguments-editor.tsx'
export type { Schema } from './schema.ts'
