const BASE = 36
const T_MIN = 1
const T_MAX = 26
const SKEW = 38
const DAMP = 700
const FIRST = 128

/**
 * Decodes a label of a host name (RFC 3492): `xn--mnchen-3ya` is `münchen`. Undefined when it cannot be decoded, or is too long for a label.
 * The `punycode` package had its last release in February 2024, and throws where this returns undefined.
 */
export function readLabel(label: string): string | undefined {
  // No label of a host has more than 63 characters (RFC 1035).
  const encoded = /^xn--(.{1,59})$/i.exec(label)?.[1]
  if (encoded === undefined) return undefined
  const split = encoded.lastIndexOf('-')
  const output = [...encoded.slice(0, Math.max(split, 0))].map((char) => char.codePointAt(0) ?? 0)
  let code = FIRST
  let bias = 72
  let place = 0
  let at = split + 1
  while (at < encoded.length) {
    const before = place
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charCodeAt(at++))
      if (digit === undefined) return undefined
      place += digit * weight
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX)
      if (digit < threshold) break
      weight *= BASE - threshold
      if (weight > 0x7fffffff) return undefined
    }
    bias = adapt(place - before, output.length + 1, before === 0)
    code += Math.floor(place / (output.length + 1))
    if (code > 0x10ffff) return undefined
    place %= output.length + 1
    output.splice(place++, 0, code)
  }
  return String.fromCodePoint(...output)
}

function digitOf(unit: number): number | undefined {
  if (unit >= 0x30 && unit <= 0x39) return unit - 22
  const letter = unit | 0x20
  return letter >= 0x61 && letter <= 0x7a ? letter - 0x61 : undefined
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let left = isFirst ? Math.floor(delta / DAMP) : delta >> 1
  left += Math.floor(left / length)
  let k = 0
  for (; left > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) left = Math.floor(left / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW))
}
