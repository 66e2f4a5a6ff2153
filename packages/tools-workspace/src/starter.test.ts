import { type JsonObject, PolicyDocument, type Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import { readCondition } from '../../server/src/policy/condition.ts'
import { Facts } from '../../server/src/policy/facts.ts'
import { Meter } from '../../server/src/policy/meter.ts'
import { workspaceStarter } from './starter.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['admin'] }
const tool = { name: 'repo.applyPatch', group: 'repo', effect: 'write' as const, destination: 'local' }

/** Returns the names of the rules whose condition holds for these arguments. */
const holding = (args: JsonObject): string[] =>
  PolicyDocument.parse({ rules: workspaceStarter('repo') }).rules.flatMap(({ name, match }) => {
    if (match.when === undefined) return []
    const read = readCondition(match.when)
    if ('problem' in read) throw new Error(read.problem)
    const facts = new Facts({ tool, arguments: args, agent: 'desk', session: null, requester: ana, nowMs: 0 })
    return read.condition(facts, new Meter()) === true ? [name] : []
  })

test('the rules to start from see every file of a patch: what runs elsewhere and what is deleted is of high risk', () => {
  const content = 'x'
  const elsewhere = 'repo: files that decide what runs elsewhere ask as high risk'
  const note = { path: 'notes.md', content }
  expect(holding({ files: [note] })).toEqual([])
  expect(holding({ files: [note, { path: '.github/workflows/ci.yml', content }] })).toEqual([elsewhere])
  expect(holding({ files: [note, { path: 'a.txt', delete: true }] })).toEqual(['repo: a patch that deletes a file asks'])
  expect(holding({ files: Array.from({ length: 20 }, (_, at) => ({ path: `${at}/${'d/'.repeat(40)}Makefile`, content })) })).toEqual([
    elsewhere,
  ])
  expect(holding({ path: 'Makefile', content })).toContain(elsewhere)
  expect(holding({ from: 'a', to: 'sub/package.json' })).toContain(elsewhere)
  expect(holding({ path: 'notes.md', content })).not.toContain(elsewhere)
})
