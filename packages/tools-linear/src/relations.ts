import type { JsonObject, PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findIssue, isOurs } from './find.ts'
import { Issue } from './inputs.ts'
import { type FoundIssue, findStanding, issueRow } from './issue-tool.ts'
import { CREATE_RELATION, REMOVE_RELATION } from './mutations.ts'
import type { RelationNode } from './nodes.ts'
import { RELATIONS } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { refuse } from './words.ts'
import { writeTool } from './write-tool.ts'

/** The kinds of relations: Linear's type, and whether it is seen from the first issue or from the other. */
const KINDS = {
  blocks: { words: 'blocks', type: 'blocks', isOut: true },
  blockedBy: { words: 'is blocked by', type: 'blocks', isOut: false },
  duplicateOf: { words: 'is a duplicate of', type: 'duplicate', isOut: true },
  duplicatedBy: { words: 'is duplicated by', type: 'duplicate', isOut: false },
  relatedTo: { words: 'is related to', type: 'related', isOut: true },
} as const
type KindName = keyof typeof KINDS
const Kind = z.enum(['blocks', 'blockedBy', 'duplicateOf', 'duplicatedBy', 'relatedTo'])

/** A relation as seen from one of its two issues. */
interface Seen {
  id: string
  kind: KindName | undefined
  /** For example `blocks ENG-7 Sign-in fails`. */
  words: string
  other: RelationNode['issue']
  createdAt: string
}

export const relationTools = (workspace: Workspace): ToolDraft[] => [
  listRelations(workspace),
  addRelation(workspace),
  removeRelation(workspace),
]

const listRelations = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listRelations',
    description: 'What an issue blocks, what it is blocked by, duplicates of it, and what else it is related to.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `List the relations of ${issue}`,
    async execute(linear, args, signal) {
      const issue = await findIssue(linear, args.issue, signal)
      const { seen, hasMore } = await relationsOf(linear, issue.id, signal)
      return {
        relations: seen.map(({ kind, other }) => ({
          relation: kind ?? 'other',
          issue: other.identifier,
          title: other.title,
          status: other.state.name,
          ...(other.trashed === true && { trashed: true }),
        })),
        hasMore,
      }
    },
  })

const addRelation = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'addRelation',
    description:
      'Relates two issues: "ENG-1 blocks ENG-2" is {issue: "ENG-1", relation: "blocks", other: "ENG-2"}. Linear moves an issue that becomes a duplicate to its duplicate status.',
    input: z.object({ issue: Issue, relation: Kind, other: Issue }),
    describe: ({ issue, relation, other }) => `Record that ${issue} ${KINDS[relation].words} ${other}`,
    document: CREATE_RELATION,
    async plan(linear, args, signal) {
      const { issue, other, seen } = await findPair(linear, args, signal)
      const { words, type, isOut } = KINDS[args.relation]
      if (seen.some((one) => one.other.id === other.id && one.kind === args.relation)) {
        throw refuse(`${issue.identifier} ${words} ${other.identifier} already.`)
      }
      const [from, to] = isOut ? [issue, other] : [other, issue]
      const had = seen.map((one) => one.words)
      return {
        fields: [
          issueRow(issue),
          { ...issueRow(other), field: 'other issue' },
          { field: 'relations', oldValue: had, newValue: [...had, `${words} ${other.identifier} ${other.title}`] },
          ...duplicateRow(type, from),
        ],
        named: { issue: issue.identifier, other: other.identifier },
        variables: { input: { issueId: from.id, relatedIssueId: to.id, type } },
        about: issue.id,
      }
    },
    view: relationView,
    creates: true,
    look: lookForRelation,
  })

const removeRelation = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'removeRelation',
    description: 'Takes away a relation between two issues. Where they have several, say which.',
    input: z.object({ issue: Issue, relation: Kind.optional(), other: Issue }),
    describe: ({ issue, relation, other }) =>
      relation === undefined
        ? `Take back the relation of ${issue} to ${other}`
        : `Take back that ${issue} ${KINDS[relation].words} ${other}`,
    document: REMOVE_RELATION,
    async plan(linear, args, signal) {
      const { issue, other, seen } = await findPair(linear, args, signal)
      const fitting = seen.filter(
        (one) => one.other.id === other.id && one.kind !== undefined && (args.relation === undefined || one.kind === args.relation),
      )
      const [relation, ...others] = fitting
      if (!relation) {
        const which = args.relation === undefined ? 'is not related to' : `has no relation "${KINDS[args.relation].words}" to`
        throw refuse(`${issue.identifier} ${which} ${other.identifier}.`)
      }
      if (others.length > 0) {
        throw refuse(`Several relations may be meant: ${fitting.map(({ kind }) => kind).join(', ')}. Say which one.`)
      }
      return {
        fields: [
          issueRow(issue),
          { ...issueRow(other), field: 'other issue' },
          {
            field: 'relations',
            oldValue: seen.map(({ words }) => words),
            newValue: seen.filter(({ id }) => id !== relation.id).map(({ words }) => words),
          },
        ],
        named: { issue: issue.identifier, other: other.identifier, ...(relation.kind && { relation: relation.kind }) },
        variables: { id: relation.id },
        about: issue.id,
      }
    },
    view: relationView,
    seesAllOf: seesAllRelations,
    look: lookForRelation,
  })

/** Returns the status change that Linear makes by itself when an issue becomes a duplicate. No other call could request it. */
const duplicateRow = (type: string, { identifier, state }: FoundIssue): PreviewField[] =>
  type === 'duplicate' ? [{ field: `status of ${identifier}`, oldValue: state.name, newValue: 'duplicate, set by Linear' }] : []

const relationView = ({ id, type, issue, relatedIssue }: RelationNode): JsonObject => ({
  id,
  issue: issue.identifier,
  relation: type,
  other: relatedIssue.identifier,
  url: issue.url,
})

async function findPair(
  linear: LinearClient,
  args: { issue: string; other: string },
  signal: AbortSignal,
): Promise<{ issue: FoundIssue; other: FoundIssue; seen: Seen[] }> {
  const [issue, other] = await Promise.all([findStanding(linear, args.issue, signal), findStanding(linear, args.other, signal)])
  if (issue.id === other.id) throw refuse(`${issue.identifier} cannot be related to itself.`)
  return { issue, other, seen: (await relationsOf(linear, issue.id, signal)).seen }
}

async function readRelations(linear: LinearClient, issueId: string, signal: AbortSignal) {
  const { issues } = await linear.ask(RELATIONS, { filter: { id: { eq: issueId } } }, signal)
  const [found] = issues.nodes
  const both = found ? [found.relations, found.inverseRelations] : []
  const hasMore = both.some(({ pageInfo }) => pageInfo.hasNextPage)
  return { relations: both.flatMap(({ nodes }) => nodes), hasMore, isWhole: found !== undefined && !hasMore }
}

/** Returns the relations of an issue, oldest first, without those to issues of teams that are not allowed. */
async function relationsOf(linear: LinearClient, issueId: string, signal: AbortSignal): Promise<{ seen: Seen[]; hasMore: boolean }> {
  const { relations, hasMore } = await readRelations(linear, issueId, signal)
  const seen = relations.map((relation) => seenFrom(relation, issueId)).filter(({ other }) => isOurs(linear, other.team))
  return { seen: seen.sort((a, b) => order(a.createdAt, b.createdAt) || order(a.id, b.id)), hasMore }
}

const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

function seenFrom({ id, type, issue, relatedIssue, createdAt }: RelationNode, issueId: string): Seen {
  const isOut = issue.id === issueId
  const other = isOut ? relatedIssue : issue
  const kind = Kind.options.find((name) => KINDS[name].type === type && (type === 'related' || KINDS[name].isOut === isOut))
  return { id, kind, words: `${kind ? KINDS[kind].words : type} ${other.identifier} ${other.title}`, other, createdAt }
}

/** Finds a relation among those of the issue, because relations have no filter. */
async function lookForRelation(linear: LinearClient, id: string, signal: AbortSignal, issueId: string): Promise<RelationNode | undefined> {
  return (await readRelations(linear, issueId, signal)).relations.find((relation) => relation.id === id)
}

const seesAllRelations = async (linear: LinearClient, issueId: string, signal: AbortSignal): Promise<boolean> =>
  (await readRelations(linear, issueId, signal)).isWhole
