export { isSameJson } from '../json/canonical.ts'
export { parseJson } from '../json/parse.ts'
export { isObject } from '../json/value.ts'
export { mediaBytes, mediaOf, type ToolMedia, withoutMedia } from '../ports/tool-media.ts'
export { areAlike, isPlain } from './ascii.ts'
export { assigneeOf } from './assignee.ts'
export {
  changesOf,
  childPath,
  HEAD_CHARS,
  type HiddenPart,
  type Hideable,
  hiddenCharacters,
  hiddenParts,
  isHighRisk,
  LONG_DIFF_CHARS,
  LONG_PREVIEW_ROWS,
  LONG_TEXT_CHARS,
  lacksChanges,
  MAX_HIDDEN_CHARS,
  needsOpening,
  stays,
  TAIL_CHARS,
  valueText,
} from './hidden.ts'
export { isBase64 } from './is-base64.ts'
export { findLookAlikes, type LookAlikes, tellApart } from './look-alike.ts'
export { riskSource } from './risk-source.ts'
export { saidFailure } from './said-failure.ts'
export { endSentence } from './sentence.ts'
export { showInvisible, showLines, showProse, showValue } from './show-invisible.ts'
export { SNOOZE_ENDS_BEFORE_DEADLINE_MS, type SnoozeTime, snoozeTimes } from './snooze-times.ts'
export { spellUnseen, splitLines } from './spell-unseen.ts'
export { countRights, decidingReason, decidingVotes, rolesText } from './votes.ts'
