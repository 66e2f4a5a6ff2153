import type { PolicyDocument } from '@countersign/core'
import { findRuleReach } from './rule-reach.ts'
import { type Known, warningsAbout } from './warnings.ts'

/**
 * Returns all that is to be said about a policy that can be used, each reading on from "the rule": likely mistakes, and rules of which another
 * one takes the calls or the requirements.
 */
export async function notesAbout(document: PolicyDocument, known: Known): Promise<string[]> {
  const warnings = (await warningsAbout(document, known)).map(({ rule, text }) => `"${rule}" ${text}`)
  const reach = known.tools ? await findRuleReach(document, known.tools) : []
  const hidden = reach.flatMap(({ rule, never, conflicts }) => [
    ...(never?.why === 'overruled'
      ? [`"${rule}" never decides: ${listOf(never.by)} ${never.by.length === 1 ? 'decides' : 'decide'} about all of its calls`]
      : []),
    ...conflicts.map(({ text }) => `"${rule}" has requirements that do not always count: ${text}. Move it above that rule`),
  ])
  return [...warnings, ...hidden]
}

const listOf = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(' and ')
