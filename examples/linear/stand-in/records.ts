import { attachmentView, documentView, type ListArgs, labelView, milestoneView, relationView, says, updateView } from './views.ts'
import type { Attachment, Document, Label, Milestone, ProjectUpdate, Relation, World } from './world.ts'

type Input = Record<string, unknown>
type Id = { id: string }
type WithInput = { input: Input }
type IdAndInput = Id & WithInput

/** How {@link rootOf} lists and finds things. */
interface Finding {
  list<Node extends { id?: string }>(of: () => readonly Node[], view?: (node: Node) => object): (args: ListArgs) => object
  byId<Node extends Id>(nodes: readonly Node[], id: unknown, kind: string): Node
  orNull<Node extends Id>(nodes: readonly Node[], id: unknown, kind: string): Node | null
  unused(nodes: readonly Id[], input: Input): { id?: string }
}

/** Documents, attachments, labels, milestones, updates of projects and relations, as roots of Linear's schema. */
export function recordsOf(world: World, { list, byId, orNull, unused }: Finding) {
  const done = { success: true, lastSyncId: 1 }
  const me = () => world.users.find(({ isMe }) => isMe) ?? null
  const issueOf = (id: unknown) => byId(world.issues, id, 'Issue')
  const projectOf = (id: unknown) => byId(world.projects, id, 'Project')
  const made = () => {
    const at = world.tick()
    return { id: crypto.randomUUID(), createdAt: at, updatedAt: at }
  }
  const change = (thing: { updatedAt: string }, values: Input) => Object.assign(thing, values, { updatedAt: world.tick() })
  const take = <Node extends Id>(nodes: Node[], id: string, kind: string): Node => {
    const found = byId(nodes, id, kind)
    nodes.splice(nodes.indexOf(found), 1)
    return found
  }
  const deleted = (entityId: string) => ({ ...done, entityId })

  return {
    documents: list(() => world.documents.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)), documentView),
    searchDocuments: ({ term, ...args }: ListArgs & { term: string }) =>
      list(() => world.documents.filter(({ title, content }) => says(`${title} ${content}`, term)), documentView)(args),
    attachments: list(() => world.issues.flatMap(({ attachments }) => attachments), attachmentView),
    projectMilestones: list(() => world.milestones, milestoneView(world)),
    projectUpdates: list(() => world.updates.toReversed(), updateView),

    documentCreate({ input: { projectId, issueId, id, ...values } }: WithInput) {
      const document: Document = {
        ...made(),
        ...unused(world.documents, { id }),
        slugId: crypto.randomUUID().slice(0, 12),
        content: null,
        ...(values as { title: string }),
        url: `${world.origin}/acme/document/${world.documents.length + 1}`,
        trashed: null,
        creator: me(),
        project: orNull(world.projects, projectId, 'Project'),
        issue: orNull(world.issues, issueId, 'Issue'),
      }
      world.documents.push(document)
      return { ...done, document: documentView(document) }
    },
    documentUpdate({ id, input }: IdAndInput) {
      const document = byId(world.documents, id, 'Document')
      change(document, input)
      return { ...done, document: documentView(document) }
    },
    documentDelete({ id }: Id) {
      const document = byId(world.documents, id, 'Document')
      change(document, { trashed: true })
      return { ...done, entity: documentView(document) }
    },
    documentUnarchive({ id }: Id) {
      const document = byId(world.documents, id, 'Document')
      change(document, { trashed: null })
      return { ...done, entity: documentView(document) }
    },

    attachmentCreate({ input: { issueId, id, ...values } }: WithInput) {
      const issue = issueOf(issueId)
      // As its description says: one address is there once, and a second one changes the first.
      const there = issue.attachments.find(({ url }) => url === values.url)
      if (there) change(there, values)
      const attachment: Attachment = there ?? {
        ...made(),
        ...(typeof id === 'string' && { id }),
        subtitle: null,
        ...(values as { title: string; url: string }),
        sourceType: 'unknown',
        creator: me(),
        issue,
      }
      if (!there) issue.attachments.push(attachment)
      return { ...done, attachment: attachmentView(attachment) }
    },
    attachmentUpdate({ id, input }: IdAndInput) {
      const attachment = byId(
        world.issues.flatMap(({ attachments }) => attachments),
        id,
        'Attachment',
      )
      change(attachment, input)
      return { ...done, attachment: attachmentView(attachment) }
    },
    attachmentDelete({ id }: Id) {
      const { issue } = byId(
        world.issues.flatMap(({ attachments }) => attachments),
        id,
        'Attachment',
      )
      take(issue.attachments, id, 'Attachment')
      return deleted(id)
    },

    issueLabelCreate({ input: { teamId, parentId, id, ...values } }: WithInput) {
      const { createdAt: _, ...at } = made()
      const label: Label = {
        ...at,
        ...unused(world.labels, { id }),
        color: '#bec2c8',
        description: null,
        ...(values as { name: string }),
        isGroup: false,
        parent: orNull(world.labels, parentId, 'IssueLabel'),
        team: orNull(world.teams, teamId, 'Team'),
      }
      world.labels.push(label)
      return { ...done, issueLabel: labelView(world)(label) }
    },
    issueLabelUpdate({ id, input }: IdAndInput) {
      const label = byId(world.labels, id, 'IssueLabel')
      change(label, input)
      return { ...done, issueLabel: labelView(world)(label) }
    },
    issueLabelDelete({ id }: Id) {
      const label = take(world.labels, id, 'IssueLabel')
      for (const issue of world.issues) issue.labels = issue.labels.filter((one) => one !== label)
      return deleted(id)
    },

    projectMilestoneCreate({ input: { projectId, id, ...values } }: WithInput) {
      const { createdAt: _, ...at } = made()
      const milestone: Milestone = {
        ...at,
        ...unused(world.milestones, { id }),
        description: null,
        targetDate: null,
        ...(values as { name: string }),
        project: projectOf(projectId),
      }
      world.milestones.push(milestone)
      return { ...done, projectMilestone: milestoneView(world)(milestone) }
    },
    projectMilestoneUpdate({ id, input }: IdAndInput) {
      const milestone = byId(world.milestones, id, 'ProjectMilestone')
      change(milestone, input)
      return { ...done, projectMilestone: milestoneView(world)(milestone) }
    },
    projectMilestoneDelete({ id }: Id) {
      const milestone = take(world.milestones, id, 'ProjectMilestone')
      for (const issue of world.issues) if (issue.projectMilestone === milestone) issue.projectMilestone = null
      return deleted(id)
    },

    projectUpdateCreate({ input: { projectId, id, ...values } }: WithInput) {
      const project = projectOf(projectId)
      const user = me()
      if (!user) throw new Error('nobody is signed in')
      const update: ProjectUpdate = {
        ...made(),
        ...unused(world.updates, { id }),
        health: 'onTrack',
        ...(values as { body: string }),
        url: `${project.url}#update-${world.updates.length + 1}`,
        user,
        project,
      }
      world.updates.push(update)
      return { ...done, projectUpdate: updateView(update) }
    },
    projectUpdateUpdate({ id, input }: IdAndInput) {
      const update = byId(world.updates, id, 'ProjectUpdate')
      change(update, input)
      return { ...done, projectUpdate: updateView(update) }
    },

    issueRelationCreate({ input: { issueId, relatedIssueId, id, type } }: WithInput) {
      const [issue, relatedIssue] = [issueOf(issueId), issueOf(relatedIssueId)]
      const { updatedAt: _, ...at } = made()
      const relation: Relation = {
        ...at,
        ...unused(
          world.issues.flatMap(({ relations }) => relations),
          { id },
        ),
        type: String(type),
        issue,
        relatedIssue,
      }
      issue.relations.push(relation)
      relatedIssue.relations.push(relation)
      return { ...done, issueRelation: relationView(relation) }
    },
    issueRelationDelete({ id }: Id) {
      const relation = byId(
        world.issues.flatMap(({ relations }) => relations),
        id,
        'IssueRelation',
      )
      for (const issue of [relation.issue, relation.relatedIssue]) issue.relations = issue.relations.filter((one) => one !== relation)
      return deleted(id)
    },
  }
}
