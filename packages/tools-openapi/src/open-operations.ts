import type { OutboundContext, SetupProblem } from '@countersign/toolkit'
import type { OpenOperation } from './operation-tool.ts'
import { type LeftOut, listOperations, type Operation } from './operations.ts'
import { readOverride } from './override.ts'
import { BrokenPart } from './parts.ts'
import { type OperationPlan, planOperation } from './plan.ts'
import type { ApiDocument } from './read-document.ts'
import { createRefs } from './refs.ts'
import type { OpenApiSection } from './section.ts'
import { type Credentials, credentialsOf, isSetBy, schemeFault, securitySchemes } from './security.ts'
import { overrideOf, selectOperations } from './select.ts'
import { type BaseAddress, serverOf } from './servers.ts'

const DEFAULT_TIMEOUT_MS = 15_000

/** A section with its variables filled in. */
export interface FilledSection extends OpenApiSection {
  base: URL | undefined
  publicBase: URL | undefined
}

/** An operation that can be called, without the network that its calls use. */
export type ReadOperation = Omit<OpenOperation, 'service' | 'reading'> & {
  service: Omit<OpenOperation['service'], keyof OutboundContext>
  reading: { plan: OperationPlan; service: Omit<OpenOperation['service'], keyof OutboundContext> } | undefined
}

/** The operations of a document that a section selects. */
export interface OpenedDocument {
  operations: readonly ReadOperation[]
  leftOut: readonly LeftOut[]
  /** Flaws of the whole document that cost no operation, in sentences. */
  notes: readonly string[]
  /** The security schemes that operations need and that have no value, each with the number of operations. */
  missing: ReadonlyMap<string, number>
}

/**
 * Opens the operations that a section selects. A flaw in the document costs only the operations that need the broken part. An error in the
 * section is reported.
 */
export function openOperations(document: ApiDocument, section: FilledSection, report: (problem: SetupProblem) => void): OpenedDocument {
  const refs = createRefs(document.root, document.unread)
  const schemes = securitySchemes(document.root, refs)
  for (const [name, value] of Object.entries(section.auth)) {
    const fault = schemeFault(schemes.get(name), value, [...schemes.keys()])
    if (fault !== undefined) report({ path: ['auth', name], message: fault })
  }
  const listed = listOperations(document.root, refs)
  const leftOut: LeftOut[] = [...listed.leftOut]
  const missing = new Map<string, number>()
  const plans = new Map<Operation, OperationPlan | BrokenPart>()
  const plan = (operation: Operation): OperationPlan => {
    const known = plans.get(operation) ?? attemptPlan(operation)
    plans.set(operation, known)
    if (known instanceof BrokenPart) throw known
    return known
  }
  const attemptPlan = (operation: Operation): OperationPlan | BrokenPart => {
    try {
      return planOperation(operation, refs, (parameter) => isSetBy(section, credentialsFor(operation), parameter))
    } catch (error) {
      if (error instanceof BrokenPart) return error
      throw error
    }
  }
  const credentialsFor = ({ node }: Operation): Credentials => credentialsOf(node.security ?? document.root.security, schemes, section.auth)
  const serviceOf = (operation: Operation): { base: BaseAddress; credentials: Credentials } => ({
    base: section.base
      ? { url: section.base, own: section.base.origin }
      : serverOf([operation.node.servers, operation.pathItem.servers, document.root.servers], document.address),
    credentials: credentialsFor(operation),
  })
  // Previews are read before the decision, so a GET that changes something must never be used for one.
  const isRead = (operation: Operation) => operation.method === 'GET' && overrideOf(operation, section.operations).effect !== 'write'
  const gets = new Map(listed.operations.filter(isRead).map((operation) => [operation.path, operation]))

  const operations = selectOperations(listed.operations, section, report).flatMap(({ operation, override: said }): ReadOperation[] => {
    try {
      const own = plan(operation)
      const called = serviceOf(operation)
      for (const name of called.credentials.missing) missing.set(name, (missing.get(name) ?? 0) + 1)
      const problems: SetupProblem[] = []
      const override = readOverride(said, operation.method, own, (problem) => problems.push(problem))
      for (const { path, message } of problems) report({ path: ['operations', operation.name, ...path], message })
      const timeoutMs = said.timeoutMs ?? DEFAULT_TIMEOUT_MS
      const service = { ...called, headers: section.headers, timeoutMs }
      const publicBase = section.publicBase ?? called.base.url
      const get = gets.get(operation.path)
      const readsBy = get && get !== operation ? sound(() => ({ plan: plan(get), service: { ...service, ...serviceOf(get) } })) : undefined
      const reading = readsBy && isReadableWith(readsBy.plan, own) ? readsBy : undefined
      return [{ operation, plan: own, override, said, service, publicBase, reading }]
    } catch (error) {
      if (!(error instanceof BrokenPart)) throw error
      leftOut.push({ operation: `${operation.method} ${operation.path}`, reason: error.message })
      return []
    }
  })
  const lost = leftOut.filter(({ reason }) => reason.includes('could not be read')).length
  const cost = lost === 0 ? '' : `; ${lost} ${lost === 1 ? 'operation or path is' : 'operations or paths are'} left out`
  return { operations, leftOut, missing, notes: [...document.unread.map((sentence) => `${sentence}${cost}`), ...document.notes] }
}

/** True when the arguments of one operation are sufficient to call the other. */
const isReadableWith = ({ parameters, body }: OperationPlan, own: OperationPlan): boolean =>
  body?.isRequired !== true &&
  parameters.every(
    (wanted) =>
      !wanted.isRequired ||
      own.parameters.some(({ in: place, name, isRequired }) => place === wanted.in && name === wanted.name && isRequired),
  )

/** Returns undefined for a broken read operation. The write operation then has no preview, but stays available. */
function sound<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof BrokenPart) return undefined
    throw error
  }
}
