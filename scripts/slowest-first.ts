import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest, most first. The last files to start are then short, so no worker is idle at the end. */
const SLOWEST = [
  'acceptance/processes',
  'acceptance/archive',
  'campaign/features/features',
  'crash/kill',
  'acceptance/checkpoint-crash',
  'react/src/approval-card',
  'react/src/hidden',
  'acceptance/crash',
  'acceptance/backup',
  'acceptance/database-away',
  'acceptance/authority',
  'acceptance/outcome-crash',
  'acceptance/chat-decisions',
  'acceptance/tutorial',
  'docs/site',
  'acceptance/checkpoint',
  'acceptance/broken-model',
  'react/src/looks',
  'acceptance/mcp-stdio',
  'acceptance/mcp-once',
  'acceptance/mcp-example',
  'acceptance/mcp-conformance',
  'acceptance/histories',
  'acceptance/streams',
  'recordings/recordings',
  'verification/simulation',
  'agent/races',
  'cli/policy',
  'acceptance/idempotency',
  'acceptance/action-lifecycle',
  'acceptance/run-stream',
  'acceptance/keys',
  'acceptance/outcome',
  'acceptance/secrets',
  'acceptance/audit',
  'acceptance/forged-record',
  'acceptance/kept-heads',
  'acceptance/safe-methods',
  'acceptance/typed-words',
  'campaign/votes',
]

const rank = ({ moduleId }: TestSpecification): number => {
  const place = SLOWEST.findIndex((part) => moduleId.includes(`/${part}`))
  return place < 0 ? SLOWEST.length : place
}

/** The order of the test files: the slowest first, the others as vitest would have them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
