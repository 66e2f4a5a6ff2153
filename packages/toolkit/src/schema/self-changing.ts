import type { JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/** Names, in small letters without marks, of what services change by themselves: when somebody looks, or whenever anything changes. */
const SELF_CHANGING = new RegExp(
  [
    '^(last)?(updated|modified|changed|seen|used|access|accessed|activity|active|login|viewed|synced|fetched|refreshed)(at|on|date|time|timestamp|ts)$',
    '^last(update|updated|modified|changed|seen|used|access|accessed|activity|active|login|viewed|synced)$',
    '^(etag|lockversion|v|rev|servertime|requestid|traceid)$',
    '^(views?|hits?|visits?|reads?|requests?|downloads?|clicks?|access(es)?)(count|counter|total)$|^(views|hits|visits|clicks)$',
  ].join('|'),
)

/** True for the name of a value that changes without anybody meaning it: `updatedAt`, `etag`, `view_count`. */
export const changesByItself = (name: string): boolean => SELF_CHANGING.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''))

/** A value without what changes by itself. */
export function lasting(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(lasting)
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([name]) => !changesByItself(name))
  return Object.fromEntries(members.map(([name, inner]) => [name, lasting(inner)]))
}
