import type { Host } from '../../coding-agent/index.ts'
import { acpShape } from './acp.ts'
import { claudeShape, codexShape } from './claude.ts'
import { copilotShape } from './copilot.ts'
import { cursorShape } from './cursor.ts'
import { geminiShape } from './gemini.ts'
import { opencodeShape } from './opencode.ts'
import type { HookShape } from './shape.ts'

export type { HookEvent, HookShape, Verdict } from './shape.ts'

export const HOOK_SHAPES: Readonly<Record<Host, HookShape>> = {
  claude: claudeShape,
  codex: codexShape,
  copilot: copilotShape,
  cursor: cursorShape,
  acp: acpShape,
  gemini: geminiShape,
  opencode: opencodeShape,
}
