import { createHash } from 'node:crypto'

/** The maximum length of a tool's name, less room for its group. */
const MAX_CHARACTERS = 80
const HASH_CHARACTERS = 8

/** The parts of an operation that its name is made from. */
export interface Nameable {
  method: string
  path: string
  operationId: string | undefined
}

/**
 * Returns a name for each operation, in the given order: the operationId with `/` as `.` and every other invalid character as `_`, else the
 * method and path (`get_pets_petId`). If operations would share a name, all of them get a hash of method and path, so no name depends on
 * the order of the document.
 */
export function operationNames(operations: readonly Nameable[]): string[] {
  const ids = countOf(operations.map(({ operationId }) => operationId ?? ''))
  const plain = operations.map((operation) => {
    const { operationId, method, path } = operation
    const isNamed = operationId !== undefined && ids.get(operationId) === 1
    return clean(isNamed ? operationId : `${method.toLowerCase()}_${path.replaceAll(/[{}]/g, '').replaceAll('/', '_')}`)
  })
  const uses = countOf(plain.map((name) => name.toLowerCase()))
  return operations.map((operation, index) => {
    const name = plain[index] ?? ''
    return name.length > MAX_CHARACTERS || (uses.get(name.toLowerCase()) ?? 0) > 1 ? withHash(name, operation) : name
  })
}

function clean(text: string): string {
  const name = text
    .replaceAll('/', '.')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^[_.-]+|[_.-]+$/g, '')
  return /^[A-Za-z]/.test(name) ? name : `op_${name}`.replace(/_$/, '')
}

function withHash(name: string, { method, path }: Nameable): string {
  const hash = createHash('sha256').update(`${method} ${path}`).digest('hex').slice(0, HASH_CHARACTERS)
  return `${name.slice(0, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`
}

function countOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
