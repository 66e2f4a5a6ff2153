import type { z } from 'zod'

/** A GraphQL document, with the schema of its answer. */
export interface LinearQuery<Answer = unknown> {
  operation: 'query' | 'mutation'
  text: string
  answer: z.ZodType<Answer>
}

export const query = <Answer>(text: string, answer: z.ZodType<Answer>): LinearQuery<Answer> => ({
  operation: 'query',
  text: `query ${text}`,
  answer,
})

export const mutation = <Answer>(text: string, answer: z.ZodType<Answer>): LinearQuery<Answer> => ({
  operation: 'mutation',
  text: `mutation ${text}`,
  answer,
})

// The library's own documents query one object each and load related objects with further requests: a card with team, state, labels and
// assignee would take six. These query everything that is shown at once.
export const TEAM = '{ id key name }'
export const USER = '{ id name displayName email }'
export const STATE = '{ id name type }'
export const LABEL = `{ id name color description isGroup updatedAt parent { id name } team ${TEAM} }`
export const CYCLE = `{ id number name isActive isNext startsAt endsAt team ${TEAM} }`
export const PROJECT = `{ id name url description startDate targetDate updatedAt status { id name } lead ${USER} teams(first: 20) { nodes ${TEAM} } }`
export const ISSUE_FIELDS = `id identifier title url priority estimate dueDate trashed updatedAt team ${TEAM} state ${STATE} assignee ${USER}
  project { id name } projectMilestone { id name } cycle { id number name } labels(first: 50) { nodes { id name } }`
const PLACE = `project { id name teams(first: 20) { nodes ${TEAM} } } issue { id identifier title team ${TEAM} }`
export const DOCUMENT = `id slugId title url trashed createdAt updatedAt creator ${USER} ${PLACE}`
export const ATTACHMENT = `{ id title subtitle url sourceType createdAt updatedAt creator ${USER} issue { id identifier title url team ${TEAM} } }`
export const MILESTONE = `{ id name description targetDate updatedAt project { id name url } }`
export const PROJECT_UPDATE = `{ id body health url createdAt updatedAt user ${USER} project { id name teams(first: 20) { nodes ${TEAM} } } }`
export const RELATED = `{ id identifier title url trashed state ${STATE} team ${TEAM} }`
export const RELATION = `{ id type createdAt issue ${RELATED} relatedIssue ${RELATED} }`
export const PAGE = 'pageInfo { hasNextPage endCursor }'
