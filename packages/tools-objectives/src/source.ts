import { ToolError } from '@countersign/core'
import type { SourceKind, ToolSource } from '@countersign/toolkit'
import type { ObjectiveStore } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { keyResultWrites } from './key-result-writes.ts'
import { objectiveWrites } from './objective-writes.ts'
import { readTools } from './reads.ts'
import { objectivesStarter } from './starter.ts'

const ObjectivesSection = z.strictObject({})

/** What may stand under `objectives` in the configuration: nothing, the database is where they are. */
export type ObjectivesInput = z.input<typeof ObjectivesSection>

/** Objectives with key results in the server's own database, as a source of tools. */
export const objectives: SourceKind<z.output<typeof ObjectivesSection>> = {
  starter: objectivesStarter,
  schema: ObjectivesSection,
  open: openObjectives,
}

function openObjectives(): ToolSource {
  let kept: ObjectiveStore | undefined
  const storeOf = (): ObjectiveStore => {
    if (!kept) throw new ToolError('broken', 'The objectives are not open yet. Nothing was changed.')
    return kept
  }
  return {
    kind: 'objectives',
    secrets: [],
    drafts: () => [...readTools(storeOf), ...objectiveWrites(storeOf), ...keyResultWrites(storeOf)],
    attach({ objectives }) {
      kept = objectives
    },
    check: async () => [{ level: 'ok', message: 'objectives are kept in the database of the server' }],
  }
}
