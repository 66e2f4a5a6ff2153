import type { Action } from '@countersign/client'
import { isClean } from './show-text.ts'

/**
 * Returns the text that a person types to confirm a critical action: the argument that names its object (`id`, `name`, … first), else the
 * first short argument, else the tool. Never returns a text with invisible characters.
 * @example
 * objectName({ tool: 'deleteOrder', arguments: { note: 'old', orderId: 'ORD-001' } }) // 'ORD-001'
 */
export function objectName(action: Pick<Action, 'tool' | 'arguments'>): string {
  const typeable = Object.entries(action.arguments).filter(([, value]) => isTypeable(String(value)) && typeof value !== 'object')
  const named = typeable.find(([key]) => /(^|[_-])(id|key|name|slug|number|path|email)$|(Id|Key|Name|Slug|Number|Path|Email)$/.test(key))
  return String((named ?? typeable[0])?.[1] ?? action.tool)
}

const isTypeable = (text: string): boolean => text !== '' && text.length <= 64 && text.trim() === text && isClean(text)
