import { CountersignError, checkJson, PolicyDocument } from '@countersign/core'
import type { SetupProblem } from '@countersign/toolkit'
import { dotted, listKnownKeys, zodFindings } from '@countersign/toolkit/internal'
import { parseDocument } from 'yaml'
import { findPolicyProblems, type PolicyProblem, type PolicyWorld } from './problems.ts'
import { yamlProblem } from './yaml-problem.ts'

/** Formats the problems of a document, a line each: the path, and the problem. */
export const tellProblems = (problems: readonly SetupProblem[]): string =>
  problems.map(({ path, message }) => (path.length === 0 ? message : `${dotted(path)}: ${message}`)).join('\n')

/** Every problem of a document; `document` where it has the shape of one, so that its rules can be looked at. */
interface CheckedDocument {
  document?: PolicyDocument
  problems: PolicyProblem[]
}

/**
 * Reads a document that a client sent, as JSON or as YAML text, and checks it against the available tools and agents.
 * @throws CountersignError `bad_request` with `issues: [{path, message}]`: every problem, with its path.
 */
export function readPolicy(given: string | object, world: PolicyWorld): PolicyDocument {
  const { document, problems } = checkPolicy(given, world)
  if (document && problems.length === 0) return document
  const issues = problems.map(({ path, message }) => ({ path: dotted(path), message }))
  throw new CountersignError('bad_request', `the policy cannot be used: ${tellProblems(problems)}`, { issues })
}

/** Does the same as {@link readPolicy}, and returns the problems. */
export function checkPolicy(given: string | object, world: PolicyWorld): CheckedDocument {
  const read = typeof given === 'string' ? readText(given) : { data: given }
  if ('problem' in read) return { problems: [{ path: [], message: read.problem }] }
  const result = PolicyDocument.safeParse(read.data, { reportInput: true, error: listKnownKeys })
  if (!result.success) return { problems: zodFindings(result.error).map(({ path, words }) => ({ path, message: words })) }
  return { document: result.data, problems: findPolicyProblems(result.data, world) }
}

/** Parses JSON as YAML, too, because this parser refuses duplicate keys in both. */
function readText(text: string): { data: unknown } | { problem: string } {
  const document = parseDocument(text, { prettyErrors: true })
  const wrong = yamlProblem(document)
  if (wrong !== undefined) return { problem: wrong }
  try {
    const checked = checkJson(document.toJS())
    return checked.ok ? { data: checked.value } : { problem: checked.reason }
  } catch (error) {
    // Aliases that expand to an unreasonable size.
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
