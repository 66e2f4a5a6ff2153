import { expect, test } from 'vitest'
import { listEdits } from './edits.ts'

test('an argument that a person adds or removes is one edit, also where every object inherits its name', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'note']) {
    const named = JSON.parse(`{${JSON.stringify(name)}: {"a": 1}}`)
    expect(listEdits(named, {})).toEqual([{ path: name, oldValue: { a: 1 }, newValue: undefined }])
    expect(listEdits({}, named)).toEqual([{ path: name, oldValue: undefined, newValue: { a: 1 } }])
  }
})

test('two edits never have the same path, whatever the names of the arguments are', () => {
  const before = { 'a.b': 1, a: { b: 1, '': 1, 'c"': 1 }, '"a.b"': 1, '': 1, 'a.': 1, list: [1, { b: 1 }] }
  const after = { 'a.b': 2, a: { b: 2, '': 2, 'c"': 2 }, '"a.b"': 2, '': 2, 'a.': 2, list: [2, { b: 2 }] }
  const paths = ['"a.b"', 'a.b', 'a.""', 'a."c\\""', '"\\"a.b\\""', '""', '"a."', 'list.0', 'list.1.b']
  expect(listEdits(before, after).map(({ path }) => path)).toEqual(paths)
})
