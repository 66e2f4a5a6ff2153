import type { ActionQuery } from '@countersign/client'

type Way = { words: string; order: NonNullable<ActionQuery['order']>; caption: string }

/** The orders of the page as its address names them, as in the inbox where it has the same. The server sorts: a page is part of all. */
export const ORDERS = {
  newest: { words: 'Newest', order: 'settled', caption: 'newest first' },
  oldest: { words: 'Oldest', order: 'settled_oldest', caption: 'oldest first' },
  waited: { words: 'Longest wait', order: 'waited', caption: 'longest wait first' },
  risk: { words: 'Highest risk', order: 'risk', caption: 'highest risk first' },
} as const satisfies Record<string, Way>

export type Order = keyof typeof ORDERS

const FIRST: Order = 'newest'

/** The order of an address; the newest first where it names none. */
export const orderOf = (params: URLSearchParams): Order => {
  const name = params.get('order') ?? FIRST
  return Object.hasOwn(ORDERS, name) ? (name as Order) : FIRST
}

/** Returns the value of `order` in the address; empty for the default order, which the address leaves out. */
export const orderParam = (order: string): string => (order === FIRST ? '' : order)
