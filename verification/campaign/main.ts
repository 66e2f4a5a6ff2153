// The campaign: `npm run test:campaign [-- --only kill,races --seed 1 --minutes 10 --database postgres]`. Runs the checks that need more
// than a short test: many kills, many races, many worlds. Prints progress to standard error and one JSON with all figures to standard
// output. Fails on any violation, and when an event that it must see did not occur.
import { randomInt } from 'node:crypto'
import { cpus, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { killPart } from '../crash/part.ts'
import { mutationPart } from '../mutation/part.ts'
import { printWorld, simulationPart } from '../simulation/part.ts'
import { auditPart } from './audit/part.ts'
import { boundPart } from './bound/part.ts'
import { clientsPart } from './clients/part.ts'
import { diskPart } from './disk/part.ts'
import { doorsPart } from './doors/part.ts'
import { featuresPart } from './features/part.ts'
import { fetchesPart } from './fetches/part.ts'
import { mcpPart } from './mcp/part.ts'
import { openapiPart } from './openapi/part.ts'
import type { Part, PartReport } from './part.ts'
import { poolerPart } from './pooler/part.ts'
import { powerPart } from './power/part.ts'
import { propertiesPart } from './properties/part.ts'
import { contestPart, deadlinePart } from './races/part.ts'
import { soakPart } from './soak/part.ts'
import { streamsPart } from './streams/part.ts'
import { typedPart } from './typed/part.ts'
import { votesPart } from './votes/part.ts'

const PARTS: Record<string, Part> = {
  bound: boundPart,
  kill: killPart,
  fetches: fetchesPart,
  features: featuresPart,
  races: contestPart,
  expiry: deadlinePart,
  streams: streamsPart,
  typed: typedPart,
  doors: doorsPart,
  simulation: simulationPart,
  votes: votesPart,
  audit: auditPart,
  properties: propertiesPart,
  mcp: mcpPart,
  clients: clientsPart,
  openapi: openapiPart,
  pooler: poolerPart,
  disk: diskPart,
  power: powerPart,
  soak: soakPart,
  mutation: mutationPart,
}

const HELP = `npm run test:campaign -- [options]

  --only <parts>        only these, with commas: ${Object.keys(PARTS).join(', ')}
  --seed <number>       draw the same inputs as the run that printed it (default: a fresh one, which is printed)
  --minutes <number>    for each part that can take long
  --database <kind>     sqlite or postgres, for the parts that run on one
  --bug <regexp>        only the planted failures whose names fit
  --files <glob>        only mutants of these source files
  --point <regexp>      only kills at the points whose names fit; of the features, faults: "pause .* sent"
  --world <number>      only print what happens in this world of the simulation

Prints one JSON with all figures. Exit code 1: a violation, or an event that had to be seen did not occur.
`

const { values } = readFlags()
if (values.help) {
  process.stdout.write(HELP)
  process.exit()
}
if (values.world !== undefined) process.exit(await printWorld(Number(values.world)))
const chosen = values.only?.split(',') ?? Object.keys(PARTS)
const unknown = chosen.filter((name) => !Object.hasOwn(PARTS, name))
if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}; there is ${Object.keys(PARTS).join(', ')}`)
const { database } = values
if (database !== undefined && database !== 'sqlite' && database !== 'postgres') throw new Error('--database is sqlite or postgres')

const seed = values.seed === undefined ? randomInt(1, 1_000_000) : Number(values.seed)
process.stderr.write(`campaign: seed ${seed}\n`)
const reports: Record<string, PartReport & { minutes: number }> = {}
for (const name of chosen) {
  const since = Date.now()
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
  const report = await PARTS[name]?.({
    seed,
    minutes,
    database,
    bug: values.bug,
    point: values.point,
    files: values.files,
    say: (line) => process.stderr.write(`${line}\n`),
  })
  if (report) reports[name] = { ...report, minutes: Math.round((Date.now() - since) / 6_000) / 10 }
}

const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), kernel: release() }
const versions = { node: process.versions.node, sqlite: process.versions.sqlite }
process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), seed, machine, versions, parts: reports }, null, 2)}\n`)
for (const [name, { violations, missing }] of Object.entries(reports)) {
  process.stderr.write(`${name}: ${violations.length} violations, ${missing.length} things not seen\n`)
}
if (Object.values(reports).some(({ violations, missing }) => violations.length + missing.length > 0)) process.exitCode = 1

function readFlags() {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        only: text,
        seed: text,
        minutes: text,
        database: text,
        bug: text,
        files: text,
        point: text,
        world: text,
      },
    })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${HELP}`)
    process.exit(1)
  }
}
