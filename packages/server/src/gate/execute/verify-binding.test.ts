import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import type { ActionRow } from '../../store/index.ts'
import { anAction } from '../../store/testing/an-action.ts'
import { definitionHashOf, digestOf } from '../propose/digest.ts'
import { verifyBinding } from './verify-binding.ts'

const open = (description: string) =>
  openTools({
    own: {
      prefix: true,
      tools: [defineTool({ name: 'pay', description, input: z.object({ cents: z.int() }), effect: 'write', execute: () => null })],
    },
  })

/** An action as it was decided, of the tool that {@link open} opens. */
function decided(tools: ReturnType<typeof open>): ActionRow {
  const tool = tools.byName('own.pay')
  if (!tool) throw new Error('the tool is there')
  const { name, destination, credential } = tool
  const bound = {
    tool: name,
    definition_hash: definitionHashOf(tool),
    arguments: '{"cents":5}',
    destination,
    credential,
    precondition: 'sha256:shown',
  }
  return anAction('act_1', { ...bound, digest: digestOf(bound) })
}

test('an action that is what was decided is carried out by its tool', () => {
  const tools = open('Pays.')
  expect(verifyBinding({ tools }, decided(tools))).toEqual({ tool: tools.byName('own.pay') })
})

test.each<[string, Partial<ActionRow>, string]>([
  ['another tool', { tool: 'own.refund' }, 'tool_missing'],
  ['other rights', { credential: 'GitHub App 7' }, 'credential_changed'],
  ['another definition', { definition_hash: 'ff' }, 'tool_changed'],
  ['other arguments', { arguments: '{"cents":500}' }, 'digest_mismatch'],
  ['what was shown of the target', { precondition: 'sha256:other' }, 'digest_mismatch'],
  ['nothing shown of the target', { precondition: null }, 'digest_mismatch'],
  ['another digest', { digest: 'sha256:aa' }, 'digest_mismatch'],
])('an action whose row has %s is not sent', (_, changed, kind) => {
  const tools = open('Pays.')
  expect(verifyBinding({ tools }, { ...decided(tools), ...changed })).toMatchObject({
    fault: { kind, message: expect.stringMatching(/./) },
  })
})

test('an action whose tool is defined otherwise by now is not sent', () => {
  expect(verifyBinding({ tools: open('Pays twice.') }, decided(open('Pays.')))).toMatchObject({ fault: { kind: 'tool_changed' } })
})
