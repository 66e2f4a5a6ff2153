/** An order id as it stands in a text, written the shop's way (`ORD-007`). */
export interface FoundOrderId {
  orderId: string
  index: number
}

// "order 3" names an order, "order 3 mugs" is a wish: a bare number counts only when no other noun follows it.
const NOT_A_WISH =
  '(?!\\d)(?!\\s*(?:x|×)\\s)(?!\\s+(?!(?:as|to|and|or|please|now|is|was|has|be|from|into|because|then|too|with|next)\\b)[a-z])'
const MORE = '(?:\\s*(?:,\\s*and|,|&|and|or)\\s*#?\\d{1,6}(?!\\d|\\s*(?:x|×)\\s))*'
const PATTERN = new RegExp(
  `\\bord[-\\s]?#?(\\d{1,6})\\b|(?:\\borders?\\s+(?:numbers?\\s+|nos?\\.?\\s*)?#?|#)(\\d{1,6}${NOT_A_WISH}${MORE})`,
  'g',
)

/**
 * Every order a lower-case text names, in its order: `ord-001`, `ord 1`, `order 1`, `orders 3, 4 and 5`, `#12`.
 * @example findOrderIds('cancel orders 3 and 4').map((found) => found.orderId) // ['ORD-003', 'ORD-004']
 */
export function findOrderIds(text: string): FoundOrderId[] {
  return [...text.matchAll(PATTERN)].flatMap((match) =>
    [...(match[1] ?? match[2] ?? '').matchAll(/\d+/g)].map((digits) => ({
      orderId: `ORD-${String(Number(digits[0])).padStart(3, '0')}`,
      index: match.index,
    })),
  )
}
