// Stands in for a language model, so that the example needs no key. Replace `model` in countersign.yaml, and delete this file.
const PATH = 'meetings.md'

export default {
  /** Reads the note, proposes an edit, and says how it ended. */
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const [read, edit] = outcomes
    if (read === undefined) return call('I will look at the note first.', 'notes_readFile', { path: PATH })
    if (read.type !== 'output') return { text: 'I cannot read the note, so nothing is changed.' }
    if (edit !== undefined) {
      return { text: edit.type === 'output' ? 'Done. The note has the new time.' : 'Nothing is changed: the edit was not made.' }
    }
    const line = JSON.stringify(read.value).match(/Stand-up: every day at (\d\d:\d\d)/)
    if (line === null) return { text: `${PATH} has no line about the stand-up, so nothing is changed.` }
    const [oldText, time] = line
    const newText = oldText.replace(time, time === '09:30' ? '10:00' : '09:30')
    return call('I propose this edit.', 'notes_editFile', { path: PATH, edits: [{ oldText, newText }] })
  },
}

const call = (text, tool, given) => ({ text, calls: [{ tool, arguments: given }] })
