import { counterpart } from '../../testing/counterparts.ts'
import type { Part } from '../part.ts'
import { documentsOf, howItOpens, runDocument, SPECS, startCatcher } from './run-documents.ts'
import { runWorld } from './run-world.ts'

const CALLS = 200
const WORLD = { documents: 200, calls: 50 }

/** Every published document at hand: what its tools send is what it prescribes, {@link CALLS} drawn calls each. Then the cards of drawn services: {@link WORLD}. */
export const openapiPart: Part = async ({ seed, minutes, say }) => {
  await using catcher = await startCatcher()
  const violations: string[] = []
  const notDrawn: string[] = []
  const missing: string[] = []
  let calls = 0
  let documents = 0
  let refused = 0
  const all = [...documentsOf(SPECS), counterpart('@octokit/openapi/generated/api.github.com.json')]
  const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  for (const [index, document] of all.entries()) {
    if (Date.now() > endsAt) {
      missing.push(`${all.length - index} documents: the time was over`)
      break
    }
    const opened = await howItOpens(document)
    if (opened.refused !== undefined) {
      refused++
      continue
    }
    // Of a large document every operation is called at least once.
    const run = await runDocument(document, catcher, {
      calls: Math.max(CALLS, opened.tools),
      seed,
      onViolation: (words) => say(`openapi: ${words}`),
    })
    documents++
    calls += run.calls
    violations.push(...run.violations)
    notDrawn.push(...run.notDrawn.map((name) => `${document}: ${name}`))
    if (run.calls < CALLS) missing.push(`${document}: ${run.calls} calls, not ${CALLS}`)
    say(`openapi: ${index + 1} of ${all.length} documents, ${calls} calls, ${violations.length} violations; ${document}`)
  }
  const world = await runWorld({
    ...WORLD,
    seed,
    isOver: () => Date.now() > endsAt,
    onViolation: (words) => say(`openapi: ${words}`),
  })
  violations.push(...world.violations)
  if (world.documents < WORLD.documents) missing.push(`${WORLD.documents - world.documents} drawn services: the time was over`)
  say(`openapi: ${world.documents} drawn services, ${world.calls} approved writes, ${world.violations.length} violations`)
  return {
    violations,
    missing,
    figures: { documents, refused, calls, notDrawn, world: { documents: world.documents, calls: world.calls } },
  }
}
