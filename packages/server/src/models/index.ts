export { openModel } from './open.ts'
export { defineScript, type Script, type ScriptedModel, type ScriptReply, type ScriptStep, scriptedModel } from './scripted.ts'
export type { ModelSettings, ProviderSettings } from './settings.ts'
