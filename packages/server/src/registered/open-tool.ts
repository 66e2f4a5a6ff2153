import { isDeepStrictEqual } from 'node:util'
import { type JsonObject, type JsonValue, type PreviewField, REGISTERED_GROUP, type RiskLevel, type Tool } from '@countersign/core'
import { openJsonSchema } from '@countersign/toolkit'
import { argumentWords, byClient, executorOf, fillWords, readWords, riskByName } from '@countersign/toolkit/internal'
import type { registeredTools } from '../store/index.ts'
import type { Definition } from './definition.ts'

type OwnedTool = registeredTools.OwnedTool

/** How much of an agent's own description of a tool a card shows. */
const MAX_SAID_CHARACTERS = 400

/**
 * Returns a registered tool as the gate uses it. Its effect is always `write`: what its agent says about it is shown as unverified, raises the
 * risk at most, and the card's headline begins with the real name of the tool.
 */
export function openTool(row: OwnedTool): Tool & { definition: JsonValue } {
  const definition: Definition = JSON.parse(row.definition)
  const { name, description, input, effect: claimedEffect, describe } = definition
  const words = describe === undefined ? undefined : readWords(describe)
  const accepted: Definition | undefined = row.accepted_hash === row.hash ? undefined : JSON.parse(row.accepted)
  const changes = accepted && changesOf(accepted, definition)
  const says: PreviewField[] = [
    ...(description === '' ? [] : [said(`${row.owner_name} says`, description)]),
    ...(claimedEffect === 'read' ? [said(`${row.owner_name} says of its effect`, 'it only reads')] : []),
  ]
  return {
    name,
    group: REGISTERED_GROUP,
    modelName: name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64),
    description,
    effect: 'write',
    inputSchema: input,
    ...executorOf({ executor: 'client' }),
    idempotent: false,
    destination: 'local',
    credential: 'none',
    // Also the words for people are part of what is approved: their agent chose them.
    definition: { owner: row.owner_id, registered: row.hash },
    registered: { ownerId: row.owner_id, ownerName: row.owner_name, hash: row.hash, claimedEffect },
    risk: riskOf(definition),
    ...(changes && { caution: cautionOf(row, changes), change: { hash: row.hash, fields: changes } }),
    check: openJsonSchema(input),
    describe: (args) => headline(name, words ? fillWords(words, args) : argumentWords(args)),
    ...((says.length > 0 || changes) && {
      preview: async () => ({ fields: [...(changes ?? []).map((row) => ({ ...row, ofTool: true as const })), ...says] }),
    }),
    execute: byClient(name),
  }
}

/** The arguments belong into the headline of a tool without words of its own: the card shows what the agent says, and folds the arguments. */
const headline = (name: string, words: string): string => (words === '' ? `Call ${name}` : `${name}: ${words}`)

const said = (field: string, text: string): PreviewField => ({
  field,
  newValue: text.length > MAX_SAID_CHARACTERS ? `${text.slice(0, MAX_SAID_CHARACTERS).toWellFormed()}…` : text,
  unverified: true,
})

const HEIGHT: Record<RiskLevel, number> = { low: 0, medium: 1, high: 2, critical: 3 }

/** The higher of what its name says and what its agent says; at least that of any write. */
function riskOf({ name, risk, effect }: Definition): NonNullable<Tool['risk']> {
  const byName = riskByName({ name, effect: 'write' })
  if (risk !== undefined && HEIGHT[risk] > HEIGHT[byName?.level ?? 'medium']) {
    return { level: risk, reason: `its agent says ${risk}`, isGuess: true }
  }
  if (byName) return byName
  const reason = effect === 'read' ? 'its agent says that it only reads, which is not verified' : 'its agent carries it out'
  return { level: 'medium', reason, isGuess: true }
}

/** One field for each part of a definition that changed. */
function changesOf(was: Definition, now: Definition): PreviewField[] {
  const compare = (field: string, before: JsonValue | undefined, after: JsonValue | undefined): PreviewField[] =>
    isDeepStrictEqual(before, after)
      ? []
      : [
          {
            field: `the tool’s ${field}`,
            ...(before !== undefined && { oldValue: before }),
            ...(after !== undefined && { newValue: after }),
          },
        ]
  return [
    ...compare('description', was.description, now.description),
    ...compare('arguments', was.input as JsonObject, now.input),
    ...compare('claimed effect', was.effect, now.effect),
    ...compare('words for cards', was.describe, now.describe),
    ...compare('claimed risk', was.risk, now.risk),
  ]
}

function cautionOf({ owner_name, name }: OwnedTool, changes: readonly PreviewField[]): string {
  const parts = changes.map(({ field }) => field.replace('the tool’s ', '')).join('; ')
  return `${owner_name} changed its tool ${name} (${parts}). Every call of it needs approval until one is approved`
}
