import { expect, test } from 'vitest'
import { asText } from './raw-json.tsx'

test('a text that holds JSON is laid out only where that changes none of its values', () => {
  expect(asText('{"id":12,"of":[1]}')).toBe('{\n  "id": 12,\n  "of": [\n    1\n  ]\n}')
  for (const text of ['{"id": 1234567890123456789}', '{"to": "ana", "to": "eve"}', '{"half": "\\ud800"}', '1e999', 'no JSON'])
    expect(asText(text)).toBe(text)
})
