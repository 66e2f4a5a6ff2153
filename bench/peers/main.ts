// `npm run bench:peers`: see HELP in args.ts.
import { pathToFileURL } from 'node:url'
import { HELP, type Options, readOptions } from './args.ts'
import { folderOf, installPeer, packagesOf } from './install.ts'
import { openPlaces, type Places } from './places.ts'
import { runProbes } from './probes.ts'
import { describeMachine, figuresOf, type Report, type Row } from './report.ts'
import { runRounds } from './rounds.ts'
import type { SystemKey } from './systems.ts'
import { toMarkdown } from './table.ts'
import { Worker } from './worker.ts'

const say = (line: string): void => void process.stderr.write(`${line}\n`)

const adapterOf = ({ folder }: SystemKey): string => pathToFileURL(`${folderOf(folder)}/adapter.ts`).href

/** Returns the message of a failure without its stack and this machine's paths. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
  return lines
    .slice(0, 3)
    .join(' ')
    .replaceAll(import.meta.dirname, 'bench/peers')
    .replace(/^Error: /, '')
}

/** Installs the peers that take part. @returns Why one could not be, by its folder. */
async function installAll(systems: readonly SystemKey[]): Promise<Map<string, string>> {
  const problems = new Map<string, string>()
  for (const folder of new Set(systems.map((system) => system.folder))) {
    try {
      await installPeer(folder, say)
    } catch (error) {
      problems.set(folder, `it could not be installed: ${reasonOf(error)}`)
    }
  }
  return problems
}

async function measure(options: Options, places: Places): Promise<Row[]> {
  const problems = await installAll(options.systems)
  const failures = new Map<SystemKey, string>()
  const workers = new Map<SystemKey, Worker>()
  const fail = (system: SystemKey, reason: string) => {
    say(`${system.key}: ${reason}`)
    failures.set(system, reason)
  }
  try {
    for (const system of options.systems) {
      const problem = problems.get(system.folder)
      if (problem !== undefined) fail(system, problem)
      else {
        const place = await places.make(system)
        const opened = await Worker.open({ ...place, adapter: adapterOf(system), effects: 'none' }).catch(reasonOf)
        if (typeof opened === 'string') fail(system, `it did not start: ${opened}`)
        else workers.set(system, opened)
      }
    }
    const onFailure = (system: SystemKey, error: unknown) => fail(system, `it failed while it ran: ${reasonOf(error)}`)
    const blocks = await runRounds(workers, { ...options, say, onFailure })
    for (const worker of workers.values()) await worker.close()
    const rows: Row[] = []
    for (const system of options.systems) {
      const { key, name, database } = system
      const known = { key, name, database, packages: packagesOf(system.folder) }
      const notRun = failures.get(system)
      if (notRun !== undefined) rows.push({ ...known, notRun })
      else {
        say(`probes: ${key}`)
        const [at1, at32] = [figuresOf(blocks, system, 1), figuresOf(blocks, system, 32)]
        const probes = await runProbes(system, adapterOf(system), places)
        rows.push({ ...known, ...(at1 && { at1 }), ...(at32 && { at32 }), probes })
      }
    }
    return rows
  } finally {
    for (const worker of workers.values()) await worker.close()
  }
}

const options = readOptions(process.argv.slice(2))
if (options.help) process.stdout.write(HELP)
else {
  await using places = await openPlaces()
  const rows = await measure(options, places)
  const { rounds, blockMs } = options
  const report: Report = { at: new Date().toISOString(), machine: describeMachine(), rounds, blockMs, rows }
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n\n${toMarkdown(report)}\n`)
}
