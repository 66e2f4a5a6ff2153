import { CountersignError, checkJson, PolicyDocument } from '@countersign/core'
import type { SetupProblem } from '@countersign/toolkit'
import { dotted, listKnownKeys, zodFindings } from '@countersign/toolkit/internal'
import { parseDocument } from 'yaml'
import { findPolicyProblems, type PolicyWorld } from './problems.ts'
import { yamlProblem } from './yaml-problem.ts'

/** Formats the problems of a document, a line each: the path, and the problem. */
export const tellProblems = (problems: readonly SetupProblem[]): string =>
  problems.map(({ path, message }) => (path.length === 0 ? message : `${dotted(path)}: ${message}`)).join('\n')

/**
 * Reads a document that a client sent, as JSON or as YAML text, and checks it against the available tools and agents.
 * @throws CountersignError `bad_request` with `issues: [{path, message}]`: every problem, with its path.
 */
export function readPolicy(given: string | object, world: PolicyWorld): PolicyDocument {
  const document = typeof given === 'string' ? readText(given) : given
  const result = PolicyDocument.safeParse(document, { reportInput: true, error: listKnownKeys })
  const problems = result.success
    ? findPolicyProblems(result.data, world)
    : zodFindings(result.error).map(({ path, words }) => ({ path, message: words }))
  if (result.success && problems.length === 0) return result.data
  throw refused(problems)
}

/** Parses JSON as YAML, too, because this parser refuses duplicate keys in both. */
function readText(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true })
  const wrong = yamlProblem(document)
  if (wrong !== undefined) throw refused([{ path: [], message: wrong }])
  const checked = checkJson(toData(() => document.toJS()))
  if (!checked.ok) throw refused([{ path: [], message: checked.reason }])
  return checked.value
}

/** Refuses aliases that expand to an unreasonable size. */
function toData(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    throw refused([{ path: [], message: error instanceof Error ? error.message : String(error) }])
  }
}

function refused(problems: readonly SetupProblem[]): CountersignError {
  const issues = problems.map(({ path, message }) => ({ path: dotted(path), message }))
  return new CountersignError('bad_request', `the policy cannot be used: ${tellProblems(problems)}`, { issues })
}
