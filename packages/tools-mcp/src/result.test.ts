import { mediaOf, withoutMedia } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contentOf } from '../../server/src/gateway/content.ts'
import { readResult } from './result.ts'

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')

test('text, structured content, links, embedded texts, pictures, sounds and files of one answer all are kept', () => {
  const content = [
    { type: 'text', text: 'Here it is.' },
    { type: 'image', mimeType: 'image/png', data: base64(3) },
    { type: 'audio', mimeType: 'audio/wav', data: base64(6) },
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'one' } },
    { type: 'resource', resource: { uri: 'file:///a.zip', mimeType: 'application/zip', blob: base64(9) } },
    { type: 'resource_link', uri: 'file:///b', name: 'b' },
  ]
  const output = readResult({ content, structuredContent: { total: 3 } })?.output
  expect(output).toEqual({
    content: { total: 3 },
    text: 'Here it is.',
    links: [{ uri: 'file:///b', name: 'b' }],
    resources: [{ uri: 'file:///a.txt', mimeType: 'text/plain', text: 'one' }],
    media: [
      { type: 'image', mimeType: 'image/png', data: base64(3) },
      { type: 'audio', mimeType: 'audio/wav', data: base64(6) },
      { type: 'file', mimeType: 'application/zip', data: base64(9), name: 'file:///a.zip' },
    ],
  })
  // A client of the gateway gets blocks of the same kinds.
  const given = contentOf(output ?? null)
  expect(given?.structuredContent).toEqual({ total: 3 })
  for (const block of content) expect(given?.content).toContainEqual(block)
})

test('structured content that the text repeats is kept once', () => {
  const structuredContent = { total: 3, note: 'x' }
  const read = (text: string) => readResult({ content: [{ type: 'text', text }], structuredContent })?.output
  expect(read(JSON.stringify(structuredContent, null, 2))).toEqual(structuredContent)
  expect(read('Three.')).toEqual({ content: structuredContent, text: 'Three.' })
  expect(readResult({ content: [{ type: 'text', text: 'one' }], structuredContent: { content: 'one' } })?.output).toEqual({
    content: 'one',
  })
})

test('a picture that is too large, is no Base64 or one of too many is left out with a note that says why', () => {
  const large = readResult({ content: [{ type: 'image', mimeType: 'image/png', data: base64(900_000) }] })?.output
  expect(large).toEqual({ notes: ['an image was left out (image/png, 900,000 bytes): a result holds 20 parts and 900 kB at most'] })
  const broken = readResult({ content: [{ type: 'audio', mimeType: 'audio/wav', data: '<script>' }] })?.output
  expect(broken).toEqual({ notes: ['a sound was left out: it cannot be read'] })
  const many = Array.from({ length: 21 }, () => ({ type: 'image', mimeType: 'image/png', data: base64(3) }))
  const kept = readResult({ content: many })?.output
  expect(mediaOf(kept)).toHaveLength(20)
  expect(JSON.stringify(kept)).toContain('an image was left out (image/png, 3 bytes)')
})

test('whatever a server answers, the result is one that the gate keeps whole, and without its media no Base64 of them is left', () => {
  const block = fc.oneof(
    fc.record({
      type: fc.constantFrom('image', 'audio'),
      mimeType: fc.constantFrom('image/png', 'audio/wav', 'odd'),
      data: fc.base64String(),
    }),
    fc.record({ type: fc.constantFrom('image'), mimeType: fc.constant('image/png'), data: fc.nat(800_000).map(base64) }),
    fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.string(), text: fc.string() }) }),
    fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.string(), blob: fc.base64String({ minLength: 40 }) }) }),
    fc.record({ type: fc.constant('text'), text: fc.string() }),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.array(block, { maxLength: 30 }), fc.option(fc.jsonValue(), { nil: undefined }), (content, structuredContent) => {
      const read = readResult({ content, structuredContent })
      const text = JSON.stringify(read?.output)
      expect(Buffer.byteLength(text)).toBeLessThan(1_000_000)
      const shown = JSON.stringify(withoutMedia(read?.output ?? null))
      for (const { data } of mediaOf(read?.output)) if (data.length > 40) expect(shown).not.toContain(data)
    }),
    { numRuns: 150 },
  )
})

test('data of another tool that only looks like a result with pictures stays data', () => {
  expect(mediaOf({ media: [{ type: 'image', mimeType: 'image/png', data: 'a b' }] })).toEqual([])
  expect(mediaOf({ media: [{ type: 'image', mimeType: 'image/png', data: 'aaaa', id: 7 }] })).toEqual([])
  expect(mediaOf([{ type: 'image', mimeType: 'image/png', data: 'aaaa' }])).toEqual([])
  expect(contentOf({ media: ['a'], links: [] })).toBeUndefined()
  expect(contentOf({ content: 'x' })).toBeUndefined()
})
