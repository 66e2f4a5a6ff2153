import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CardEvent, type CardState, NEXT } from './card-state.ts'

// Written by hand, in other words than the table: a row per state, a column per event. `.` stays, `-` is not possible, `R` goes to rest.
const EVENTS = 'replace update revise change surroundings edit block arm confirm grant decline back revote send accept done refuse'.split(
  ' ',
) as CardEvent[]
const SHORT: Record<string, string> = {
  R: 'rest',
  '.': 'same',
  '-': 'no',
  A: 'armed',
  C: 'confirming',
  G: 'granting',
  D: 'declining',
  S: 'sending',
  T: 'sent',
}
const EXPECTED: Record<CardState, string> = {
  //          replace update revise change surr. edit block arm confirm grant decline back revote send accept done refuse
  loading: '   R       R      R      R      R     -    -     -   -       -     -       -    -      -    -      -    -',
  readonly: '  R       R      R      R      R     -    -     -   -       -     -       -    -      -    -      -    -',
  voted: '     R       R      R      R      R     -    -     -   -       -     -       -    R      -    -      -    -',
  waiting: '   R       R      R      R      R     R    R     A   C       G     D       .    -      S    -      -    -',
  changed: '   R       R      R      R      R     R    R     A   C       G     D       .    -      S    -      -    -',
  editing: '   R       R      R      R      R     R    R     A   C       G     D       .    -      S    -      -    -',
  refused: '   R       R      R      R      R     R    R     A   C       G     D       .    -      S    -      -    -',
  offline: '   R       R      R      R      R     R    R     -   -       -     D       .    -      -    -      -    -',
  armed: '     R       .      R      R      .     R    R     .   C       G     D       R    -      S    -      -    -',
  confirming: 'R       .      R      R      .     R    -     -   -       -     -       R    -      S    -      -    -',
  granting: '  R       .      R      R      .     R    -     -   -       -     -       R    -      S    -      -    -',
  declining: ' R       .      .      R      .     .    .     A   C       G     .       R    -      S    -      -    -',
  sending: '   R       .      .      .      .     .    -     -   -       -     -       -    -      -    T      R    R',
  sent: '      R       R      R      R      .     .    -     -   -       -     -       -    -      -    -      -    -',
  running: '   R       R      R      R      R     -    -     -   -       -     -       -    -      S    -      -    -',
  decided: '   R       R      R      R      R     -    -     -   -       -     -       -    -      S    -      -    -',
  expired: '   R       R      R      R      R     -    -     -   -       -     -       -    -      -    -      -    -',
  unknown: '   R       R      R      R      R     -    -     -   -       -     -       -    -      S    -      -    -',
}

test('every state of the card answers every event as a second table, written by hand, says', () => {
  const read = Object.fromEntries(
    Object.entries(EXPECTED).map(([state, row]) => {
      const cells = row.trim().split(/\s+/)
      expect(cells, state).toHaveLength(EVENTS.length)
      return [state, Object.fromEntries(EVENTS.map((event, index) => [event, SHORT[cells[index] ?? '']]))]
    }),
  )
  expect(NEXT).toEqual(read)
})

test('the logic of the card uses no React and no page', () => {
  const folder = new URL('.', import.meta.url)
  const files = readdirSync(folder).filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^use-/.test(file))
  expect(files).toHaveLength(4)
  for (const file of files) {
    expect(readFileSync(new URL(file, folder), 'utf8'), file).not.toMatch(/from 'react'|\bdocument\.|\bwindow\.|HTMLElement/)
  }
})
