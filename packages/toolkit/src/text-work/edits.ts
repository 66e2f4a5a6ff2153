import { findText } from './find-text.ts'

/** One replacement: a text that has to be there exactly once, and what stands there after. */
export interface TextEdit {
  oldText: string
  newText: string
}

/** Why an edit cannot be made, in a sentence. */
export class EditProblem extends Error {
  override readonly name = 'EditProblem'
}

/**
 * A text with the edits made, one after another. Everything around them stays as it is: line ends, the missing last one, a byte order mark.
 * Where every line of the text ends with `\r\n`, an edit that names no `\r` is taken to mean the same line ends.
 * @throws EditProblem when an old text is not there, or there more than once.
 * @example
 * applyEdits('a b', [{ oldText: 'b', newText: 'c' }], 'x.txt') // 'a c'
 */
export function applyEdits(text: string, edits: readonly TextEdit[], path: string): string {
  const isCrlf = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  return edits.reduce((current, edit, index) => {
    const { oldText, newText } = isCrlf ? withCrlf(edit) : edit
    const which = edits.length === 1 ? 'oldText' : `oldText of edit ${index + 1}`
    const at = findText(current, oldText)
    if (at < 0) throw new EditProblem(`${which} is not in ${path}${hintFor(current, oldText)}.`)
    if (findText(current, oldText, at + 1) >= 0)
      throw new EditProblem(`${which} is in ${path} more than once: give more of the text around it.`)
    return current.slice(0, at) + newText + current.slice(at + oldText.length)
  }, text)
}

/** An edit that writes `\r` itself says which line ends it means. */
function withCrlf(edit: TextEdit): TextEdit {
  if (edit.oldText.includes('\r') || edit.newText.includes('\r')) return edit
  return { oldText: edit.oldText.replaceAll('\n', '\r\n'), newText: edit.newText.replaceAll('\n', '\r\n') }
}

function hintFor(text: string, oldText: string): string {
  if (text.includes('\r\n') && oldText.includes('\n') && !oldText.includes('\r')) return ', some of whose lines end with \\r\\n'
  return ''
}
