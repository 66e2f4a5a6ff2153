import { markNames } from './mark-names.ts'
import { showHosts } from './show-hosts.ts'
import { spell, spellUnseen, splitLines, UNSEEN } from './spell-unseen.ts'

/** Some emoji are put together with characters that cannot be seen; whole ones can. Made when it is first used: it takes 20 ms of the start. */
let emojiOrInvisible: RegExp | undefined

/**
 * The text as it may be shown to somebody who decides: every character that cannot be seen, or that changes how others are seen, spelled
 * out as `⟦U+202E⟧` (controls, direction marks, zero-width characters, odd spaces, lone surrogates, the fifth mark on a letter and
 * all later ones), behind every host name that is not plain ASCII its other spelling, and behind every name that may be taken for another
 * one the letters that make it so ({@link markNames}).
 * @example
 * showInvisible('pay\u202Eeem')        // 'pay⟦U+202E⟧eem'
 * showInvisible('https://аpple.com/x') // 'https://аpple.com⟦xn--pple-43d.com⟧/x'
 * showInvisible('аdmin')               // 'аdmin⟦U+0430 Cyrillic⟧'
 */
export const showInvisible = (text: string): string => spellUnseen(showNames(text))

/** {@link showInvisible} for text of several lines: line feeds stay what they are. */
export const showLines = (text: string): string => text.split('\n').map(showInvisible).join('\n')

/** {@link showInvisible} for a value that may have several lines: see {@link splitLines}. */
export const showValue = (text: string): string =>
  splitLines(text)
    .map((part, at) => (at % 2 ? part : showInvisible(part)))
    .join('')

/** {@link showLines} for what people and models write to each other: tabs and whole emoji stay as well. */
export function showProse(text: string): string {
  emojiOrInvisible ??= new RegExp(String.raw`(\p{RGI_Emoji}|[\n\t])|${UNSEEN}`, 'gv')
  return showNames(text).replace(emojiOrInvisible, (found, kept?: string) => kept ?? spell(found))
}

const showNames = (text: string): string => showHosts(text, markNames)
