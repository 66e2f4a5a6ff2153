import { CountersignError, checkJson, PolicyDocument } from '@countersign/core'
import type { SetupProblem } from '@countersign/toolkit'
import { dotted, listKnownKeys, zodFindings } from '@countersign/toolkit/internal'
import { LineCounter } from 'yaml'
import { findPolicyProblems, type PolicyProblem, type PolicyWorld } from './problems.ts'
import { parseWithManyFaults, refuseRepeatedKeys, tooManyAliases, tooManyParts } from './yaml-limits.ts'
import { type LineOf, linesOf } from './yaml-lines.ts'
import { yamlProblem } from './yaml-problem.ts'

/** Formats the problems of a document, a line each: the line in its text, the path, and the problem. */
export const tellProblems = (problems: readonly SetupProblem[], lineOf?: LineOf): string =>
  problems
    .map(({ path, message }) => {
      const line = lineOf?.(path)
      return [line === undefined ? '' : `line ${line}`, dotted(path), message].filter((part) => part !== '').join(': ')
    })
    .join('\n')

/** Every problem of a document; `document` where it has the shape of one, so that its rules can be looked at. */
interface CheckedDocument {
  document?: PolicyDocument
  problems: PolicyProblem[]
  /** Of a document that was a text. */
  lineOf?: LineOf | undefined
}

/**
 * Reads a document that a client sent, as JSON or as YAML text, and checks it against the available tools and agents.
 * @throws CountersignError `bad_request` with `issues: [{path, message}]`: every problem, with its path.
 */
export function readPolicy(given: string | object, world: PolicyWorld): PolicyDocument {
  const { document, problems, lineOf } = checkPolicy(given, world)
  if (document && problems.length === 0) return document
  const issues = problems.map(({ path, message }) => ({ path: dotted(path), message }))
  throw new CountersignError('bad_request', `the policy cannot be used: ${tellProblems(problems, lineOf)}`, { issues })
}

/** Does the same as {@link readPolicy}, and returns the problems. */
export function checkPolicy(given: string | object, world: PolicyWorld): CheckedDocument {
  const read: ReadText = typeof given === 'string' ? readText(given) : { data: given }
  if ('problem' in read) return { problems: [{ path: [], message: read.problem }] }
  const result = PolicyDocument.safeParse(read.data, { reportInput: true, error: listKnownKeys })
  const { lineOf } = read
  if (!result.success) return { problems: zodFindings(result.error).map(({ path, words }) => ({ path, message: words })), lineOf }
  return { document: result.data, problems: findPolicyProblems(result.data, world), lineOf }
}

type ReadText = { data: unknown; lineOf?: LineOf } | { problem: string }

/** Parses JSON as YAML, too, so that duplicate keys are refused in both. */
function readText(text: string): ReadText {
  const tooLong = tooManyParts(text)
  if (tooLong !== undefined) return { problem: tooLong }
  const lineCounter = new LineCounter()
  const document = parseWithManyFaults(text, lineCounter)
  refuseRepeatedKeys(document)
  const wrong = yamlProblem(document, lineCounter) ?? tooManyAliases(document)
  if (wrong !== undefined) return { problem: wrong }
  try {
    const checked = checkJson(document.toJS())
    return checked.ok ? { data: checked.value, lineOf: linesOf(document, lineCounter) } : { problem: checked.reason }
  } catch (error) {
    // Aliases that expand to an unreasonable size.
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
