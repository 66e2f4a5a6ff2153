import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliReference } from './cli.ts'
import { cliJsonReference } from './cli-json.ts'
import { clientReference } from './clients.ts'
import { comparison } from './comparison.ts'
import { configurationReference } from './configuration.ts'
import { consoleKeys } from './console-keys.ts'
import { readFieldTexts } from './docstrings.ts'
import { errorReference } from './error-texts.ts'
import { eventReference } from './events.ts'
import { httpReference } from './http.ts'
import { limitReference } from './limits.ts'
import { linesAddedReference } from './lines-added.ts'
import { logReference } from './log-events.ts'
import { metricReference } from './metrics.ts'
import { policyReference } from './policy.ts'
import { recordReference } from './record-texts.ts'
import { retentionReference } from './retention.ts'
import { sdkReference } from './sdk.ts'
import { pageLists } from './sidebar.ts'
import {
  brainEvents,
  describedTable,
  exportFields,
  gatedParameters,
  headFields,
  hostToolReference,
  searchTerms,
  shellFacts,
  webhookEvents,
} from './source-tables.ts'
import { toolReference } from './tools.ts'
import { readMetricsText, readWireDocument } from './wire-document.ts'
import { WIRE_PLACES } from './wire-fields.ts'

/** The generated parts of pages, by file name. They are made for each build, so none can be out of date. */
async function makeReference(root: string): Promise<Record<string, string>> {
  const document = await readWireDocument()
  const wireTexts = readFieldTexts(root, WIRE_PLACES)
  return {
    'brain-events.md': describedTable(['event', 'meaning'], brainEvents(root)),
    'cli.md': cliReference(),
    'cli-json.md': cliJsonReference(),
    'client.md': sdkReference(root, 'client'),
    'clients.md': clientReference(root),
    'comparison.md': comparison(root),
    'console-keys.md': consoleKeys(),
    'configuration.md': await configurationReference(root),
    'errors.md': errorReference(),
    'events.md': eventReference(document, wireTexts),
    'gated-parameters.md': describedTable(['Setting', 'What it does'], gatedParameters(root)),
    'host-tools.md': hostToolReference(),
    'http.md': httpReference(document, wireTexts),
    'limits.md': limitReference(root),
    'lines-added.md': linesAddedReference(root),
    'log.md': logReference(root),
    'metrics.md': metricReference(await readMetricsText()),
    'policy.md': policyReference(root),
    'record.md': recordReference(),
    'record-end.md': describedTable(['`end`', 'meaning'], exportFields(root, 'ExportEnd')),
    'record-heads.md': describedTable(['field', 'meaning'], headFields(root)),
    'record-start.md': describedTable(['first line', 'meaning'], exportFields(root, 'ExportStart')),
    'react.md': sdkReference(root, 'react'),
    'retention.md': retentionReference(),
    'search-terms.md': describedTable(['Term', 'Finds'], searchTerms(root)),
    'server.md': sdkReference(root, 'server', ['core', 'toolkit']),
    'shell-facts.md': describedTable(['`args.shell`', 'Meaning'], shellFacts(root)),
    'tools.md': await toolReference(),
    'webhook-events.md': describedTable(['Event', 'When'], webhookEvents(root)),
    ...pageLists(join(root, 'docs')),
  }
}

/** Writes the generated parts to `docs/reference/generated`, where pages include them from. */
export async function writeReference(root: string): Promise<void> {
  const folder = join(root, 'docs', 'reference', 'generated')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(await makeReference(root))) writeFileSync(join(folder, name), text)
}
