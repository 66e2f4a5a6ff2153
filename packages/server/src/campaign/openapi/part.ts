import { counterpart } from '../../testing/counterparts.ts'
import type { Part } from '../part.ts'
import { documentsOf, howItOpens, runDocument, SPECS, startCatcher } from './run-documents.ts'

const CALLS = 200

/** Every published document at hand: what its tools send is what it prescribes, {@link CALLS} drawn calls each. */
export const openapiPart: Part = async ({ seed, say }) => {
  await using catcher = await startCatcher()
  const violations: string[] = []
  const notDrawn: string[] = []
  const missing: string[] = []
  let calls = 0
  let documents = 0
  const all = [...documentsOf(SPECS), counterpart('@octokit/openapi/generated/api.github.com.json')]
  for (const document of all) {
    const opened = await howItOpens(document)
    if (opened.refused !== undefined) continue
    // Of a large document every operation is called at least once.
    const run = await runDocument(document, catcher, { calls: Math.max(CALLS, opened.tools), seed })
    documents++
    calls += run.calls
    violations.push(...run.violations)
    notDrawn.push(...run.notDrawn.map((name) => `${document}: ${name}`))
    if (run.calls < CALLS) missing.push(`${document}: ${run.calls} calls, not ${CALLS}`)
    if (documents % 20 === 0) say(`openapi: ${documents} documents, ${calls} calls, ${violations.length} violations`)
  }
  return { violations, missing, figures: { documents, refused: all.length - documents, calls, notDrawn } }
}
