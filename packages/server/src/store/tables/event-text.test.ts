import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortText, wholeText } from './event-text.ts'

const SESSION = 'ses_1m86pw2tp000w59gnw5aey5gt'
const NOW = Date.UTC(2026, 10, 24, 12)
const rows = [SESSION, null].map((session_id) => ({ session_id, created_at: NOW }))

/** Texts with parts of what is shortened, and with the characters that stand for it. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ...['","sessionId":"', `${SESSION}","runId":"run_`, ',"session_status",{"status":"active","pendingApprovals":[]}]'],
        ...['2026-11-24T12:00:00.000Z', '","createdAt":"', '\x01', '\x01!', '\x02', '\x03', '"', '\\', '\0', '\ud800'],
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

test('a row of the log is read exactly as it was written, whatever a model, a tool or a person said in it', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, text, fc.jsonValue(), fc.array(tie('any')), fc.dictionary(text, tie('any'))),
  })).any
  const said = fc.array(fc.tuple(fc.nat(), fc.constantFrom('message', 'action_update', 'session_status'), value))
  fc.assert(
    fc.property(said, fc.constantFrom(...rows), (events, row) => {
      const json = JSON.stringify(events)
      expect(wholeText(shortText(json, row), row)).toBe(json)
    }),
  )
})

test('a row that was stored before rows were shortened is read as it is', () => {
  const json = JSON.stringify([[1, 'message', { message: { id: 'msg_1', sessionId: SESSION, content: '\x01!\x02\x03' } }]])
  for (const row of rows) expect(wholeText(json, row)).toBe(json)
})

test('a row means the same in every version: a piece keeps its code', () => {
  const [row] = rows
  const json = `[[1,"session_status",{"status":"active","pendingApprovals":[]}],[2,"message",{"message":{"id":"msg_1","sessionId":"${SESSION}"}}]]`
  expect(row && shortText(json, row)).toBe('[[1\x01(,[2\x01&1","sessionId":"\x02"}}]]')
  expect(row && wholeText('[[3\x01a1\x01d}],[4\x01|]', row)).toBe(
    '[[3,"action_update",{"proposalId":"act_1","state":"succeeded"}],[4. Please approve or decline this action."]',
  )
})
