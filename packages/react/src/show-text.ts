import { isPlain, spellUnseen, splitLines } from '@countersign/core/text'
import { createPart, usePart } from './parts.ts'

/** The marks for names that look alike, with their table of letters. Most cards have plain text and do without. */
export const MARKS = createPart(() => import('./marks.ts'))

/**
 * The text as it may be shown, as core's `showInvisible` has it. Names in a text that is not plain are marked once {@link MARKS} has been loaded:
 * until then the card approves nothing.
 */
export const showInvisible = (text: string): string =>
  isPlain(text) ? spellUnseen(text) : (MARKS.get().module?.showInvisible ?? spellUnseen)(text)

/** {@link showInvisible} for text of several lines: line feeds stay what they are. */
export const showLines = (text: string): string => text.split('\n').map(showInvisible).join('\n')

/** {@link showInvisible} for a value that may have several lines, as core's `showValue` has it. */
export const showValue = (text: string): string =>
  splitLines(text)
    .map((part, at) => (at % 2 ? part : showInvisible(part)))
    .join('')

/** True where no character of the text is hidden, and no name in it can be taken for another one. */
export const isClean = (text: string): boolean => (isPlain(text) || MARKS.get().state === 'ready') && showInvisible(text) === text

/** Draws again once the marks are there, and loads them where `text` needs them. */
export const useMarks = (text: string) => usePart(MARKS, !isPlain(text))

/** Loads the marks. A page that shows texts of this package outside of cards, such as `outcomeText`, waits for it before it draws. */
export const loadMarks = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const look = () => {
      const { state } = MARKS.get()
      if (state === 'loading') return
      stop()
      if (state === 'ready') resolve()
      else reject(new Error('The marks for names that look alike could not be loaded.'))
    }
    const stop = MARKS.subscribe(look)
    MARKS.start()
    look()
  })
